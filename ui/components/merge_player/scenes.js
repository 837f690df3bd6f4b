// Scenes: which of the words that merges change are shown together, and for which merges.

import { lastThat } from "../shared/binary_search.js";
import { touchedIn } from "./run.js";
import { MAX_WORD_LENGTH } from "./word_layout.js";

/** @import { Block } from "./run.js" */

/** The merges from `from` up to but not including `to`, and the words that they change.
    @typedef {object} Scene
    @property {number} from
    @property {number} to
    @property {Set<number>} words */

/** Divide the merges of a block into scenes: consecutive merges whose words fit together in `room` cells,
    so that words stay in place while several merges play.
    @param {Block} block
    @param {number} room
    @param {(word: number) => number} countCells The number of cells that a word takes.
    @returns {Scene[]} */
export function placeScenes(block, room, countCells) {
  const scenes = [];
  /** @type {Scene | null} */
  let scene = null;
  let taken = 0;
  for (let step = block.start; step < block.stop; step++) {
    const touched = touchedIn(block, step);
    const fresh = touched.filter((word) => !scene?.words.has(word));
    const more = fresh.reduce((sum, word) => sum + countCells(word), 0);
    if (scene && taken + more <= room) {
      taken += more;
      for (const word of fresh) scene.words.add(word);
      scene.to = step + 1;
    } else {
      taken = touched.reduce((sum, word) => sum + countCells(word), 0);
      scenes.push((scene = findScene(block, step)));
    }
  }
  return scenes;
}

/** Return the number of cells that a word of `length` base symbols takes at most.
    @param {number} length
    @param {number} columns */
export function cellsOfWord(length, columns) {
  const drawn = Math.min(length, MAX_WORD_LENGTH);
  const inOneCell = columns === 1 ? 12 : 10;
  return drawn <= inOneCell ? 1 : columns * Math.ceil(drawn / (columns === 1 ? 12 : 24));
}

/** Return the scene of a single merge.
    @param {Block} block
    @param {number} step
    @returns {Scene} */
export function findScene(block, step) {
  return { from: step, to: step + 1, words: new Set(touchedIn(block, step)) };
}

/** Return the scene with the merge after `step`; null if no scene contains it.
    @param {Scene[]} scenes
    @param {number} step */
export function sceneAt(scenes, step) {
  const scene = scenes[lastThat(0, scenes.length - 1, (place) => scenes[place].from <= step)];
  return scene && scene.from <= step && step < scene.to ? scene : null;
}
