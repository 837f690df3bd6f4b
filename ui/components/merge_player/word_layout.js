// Scenes and their layout: which words are shown together, for which merges, and where in a grid of cells.

import { lastThat } from "../shared/binary_search.js";
import { touchedIn } from "./run.js";

/** @import { Block } from "./run.js" */

export const MAX_WORD_LENGTH = 40; // base symbols; the rest of a longer word is not drawn
const TILE_GAP = 3; // px
const COLUMN_GAP = 28;
const ELLIPSIS = 16;

/** A grid: its numbers of columns and rows, its width, and the width of the count next to a word, in px.
    @typedef {object} Room
    @property {number} columns
    @property {number} rows
    @property {number} width
    @property {number} count */

/** @typedef {object} Size
    @property {number} span Number of columns.
    @property {number} lines */

/** @typedef {Size & { row: number, column: number }} Place */

/** Return the size of a word in cells: one if its tiles fit on one line of a cell, or else whole rows.
    @param {number[]} widths The widths of its tiles, in px.
    @param {boolean} isCut Whether an ellipsis follows them.
    @param {Room} room
    @returns {Size} */
export function sizeOfWord(widths, isCut, { columns, rows, width, count }) {
  const all = isCut ? [...widths, ELLIPSIS] : widths;
  const oneCell = (width - COLUMN_GAP * (columns - 1)) / columns - count;
  const isNarrow = columns > 1 && lineCount(all, oneCell) === 1 && all.every((one) => one <= oneCell);
  return isNarrow ? { span: 1, lines: 1 } : { span: columns, lines: Math.min(rows, lineCount(all, width - count)) };
}

/** Return the number of lines that tiles of these widths need.
    @param {number[]} widths
    @param {number} line */
export function lineCount(widths, line) {
  let lines = 1;
  let x = 0;
  for (const width of widths) {
    if (x > 0 && x + width > line) {
      lines++;
      x = 0;
    }
    x += width + TILE_GAP;
  }
  return lines;
}

/** Place each word in the first free cells, and leave out words without room. With `inOrder`, cells may
    stay free next to wide words; otherwise words of one cell come first, side by side.
    @template {Size} Sized
    @param {Sized[]} sizes
    @param {{ columns: number, rows: number, inOrder: boolean }} grid
    @returns {(Sized & Place)[]} */
export function placeWords(sizes, { columns, rows, inOrder }) {
  const placed = firstFree(sizes, columns, rows);
  return inOrder ? placed : firstFree(placed.toSorted((one, other) => one.span - other.span), columns, rows);
}

/** @template {Size} Sized
    @param {Sized[]} sizes
    @param {number} columns
    @param {number} rows
    @returns {(Sized & Place)[]} */
function firstFree(sizes, columns, rows) {
  /** @type {Set<number>} */
  const taken = new Set();
  return sizes.flatMap((size) => {
    const place = freePlace(taken, columns, rows, size);
    return place ? [{ ...size, ...place }] : [];
  });
}

/** @param {Set<number>} taken
    @param {number} columns
    @param {number} rows
    @param {Size} size */
function freePlace(taken, columns, rows, { span, lines }) {
  for (let row = 0; row + lines <= rows; row++) {
    for (let column = 0; column + span <= columns; column++) {
      const cells = [];
      for (let y = row; y < row + lines; y++) for (let x = column; x < column + span; x++) cells.push(y * columns + x);
      if (cells.every((cell) => !taken.has(cell))) {
        cells.forEach((cell) => taken.add(cell));
        return { row, column };
      }
    }
  }
  return null;
}

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
