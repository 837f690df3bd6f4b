// The blocks of a long text: each is drawn when it comes near the viewport.

import { lastThat } from "../shared/binary_search.js";

/** @import { Tokens } from "./reading.js" */

/** A planned block: its tokens from `start` to before `end`, and its estimated height.
    @typedef {{ start: number, end: number, height: number }} PlannedBlock */

// On every frame the browser checks each element with content-visibility: 5,000 blocks took 29 ms. With
// sections, and only the blocks of near sections watched, it takes 2 ms.
const BLOCKS_A_SECTION = 40;
const LINE_HEIGHT = 42; // px

/** @param {Pick<Tokens, "text" | "at">} tokens
    @param {number[]} cuts The first token of each block, and how many tokens there are.
    @param {number} perLine Characters that fit on a line.
    @returns {PlannedBlock[]} */
export function planBlocks({ text, at }, cuts, perLine) {
  const blocks = [];
  for (let b = 0; b + 1 < cuts.length; b++) {
    const [start, end] = [cuts[b], cuts[b + 1]];
    if (start === end) continue;
    blocks.push({ start, end, height: guessHeight(text.slice(at[start], at[end]), perLine) });
  }
  return blocks;
}

/** Return the sections of a number of blocks, as half-open ranges.
    @param {number} nBlocks */
export function planSections(nBlocks) {
  const sections = [];
  for (let first = 0; first < nBlocks; first += BLOCKS_A_SECTION) {
    sections.push({ first, last: Math.min(first + BLOCKS_A_SECTION, nBlocks) });
  }
  return sections;
}

/** Return an estimate of a block's height, so that the scroll bar is about right before it is drawn.
    @param {string} text
    @param {number} perLine */
export function guessHeight(text, perLine) {
  let lines = 0;
  for (let from = 0; from < text.length; ) {
    const feed = text.indexOf("\n", from);
    const end = feed < 0 ? text.length : feed;
    lines += Math.max(1, Math.ceil((end - from) / perLine));
    from = end + 1;
  }
  return LINE_HEIGHT * lines;
}

/** Return the block that holds a token.
    @template {{ start: number }} Block
    @param {Block[]} blocks
    @param {number} index */
export function findBlock(blocks, index) {
  return blocks[lastThat(0, blocks.length - 1, (b) => blocks[b].start <= index)];
}

/** Return the last of things[first:last], from top to bottom, that starts above a height.
    @template {{ element: { offsetTop: number } }} Thing
    @param {Thing[]} things
    @param {number} first
    @param {number} last
    @param {number} height */
export function lastAbove(things, first, last, height) {
  return things[lastThat(first, last - 1, (place) => things[place].element.offsetTop <= height)];
}
