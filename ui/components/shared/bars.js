// The bars of a ribbon: which tokens a text has at each step, where they stand, and how they are drawn.

export const NEVER = 2 ** 31 - 1;
export const BAR = 18; // px high
const SLOTS = 8;

/** A token where it stands, in bytes, and how many merges had been done once it was made: 0 if no merge made it.
    @typedef {{ start: number, end: number, merge: number }} BarToken */

/** List the tokens of a text after a number of merges.
    @param {number} nBytes
    @param {ArrayLike<number>} joinedAt
    @param {number} step
    @returns {BarToken[]} */
export function tokensAt(nBytes, joinedAt, step) {
  const tokens = [];
  let start = 0;
  let merge = 0;
  for (let end = 1; end <= nBytes; end++) {
    const joined = end < nBytes ? joinedAt[end - 1] : NEVER;
    if (joined <= step) {
      merge = Math.max(merge, joined);
      continue;
    }
    tokens.push({ start, end, merge });
    start = end;
    merge = 0;
  }
  return tokens;
}

/** Count the tokens of a text after each number of merges, from none to all.
    @param {number} nBytes
    @param {ArrayLike<number>} joinedAt
    @param {number} nMerges */
export function countsByStep(nBytes, joinedAt, nMerges) {
  const counts = new Int32Array(nMerges + 1);
  counts[0] = nBytes;
  for (let i = 0; i + 1 < nBytes; i++) if (joinedAt[i] <= nMerges) counts[joinedAt[i]]--;
  for (let step = 1; step <= nMerges; step++) counts[step] += counts[step - 1];
  return counts;
}

/** Return what `joinedAt` is for tokens of these lengths in bytes, which stand from the beginning.
    @param {number[]} lengths */
export function joinsOfTokens(lengths) {
  return Int32Array.from(lengths.flatMap((length) => [...new Array(Math.max(0, length - 1)).fill(0), NEVER]));
}

/** @typedef {{ fills: string[], paper: string, ticks: string }} RowPaths */

/** Return the bars of each row as SVG paths, a byte wide as 1 and BAR high: those of each slot, the white ones, and
    the ticks between tokens. A token that goes on in the next row has no tick there.
    @param {BarToken[]} tokens
    @param {number} nBytes
    @param {number} perRow
    @param {(token: BarToken) => number} findSlot
    @returns {RowPaths[]} */
export function rowPaths(tokens, nBytes, perRow, findSlot) {
  const rows = Array.from({ length: Math.ceil(nBytes / perRow) }, () =>
    ({ fills: new Array(SLOTS).fill(""), paper: "", ticks: "" }));
  for (const token of tokens) {
    const slot = token.end - token.start > 1 ? findSlot(token) : -1;
    for (let from = token.start; from < token.end; ) {
      const row = Math.floor(from / perRow);
      const to = Math.min(token.end, (row + 1) * perRow);
      const bar = `M${from - row * perRow} 0h${to - from}v${BAR}h${from - to}z`;
      if (slot < 0) rows[row].paper += bar;
      else rows[row].fills[slot] += bar;
      if (from === token.start) rows[row].ticks += `M${from - row * perRow} 0v${BAR}`;
      if (to === token.end && to === (row + 1) * perRow) rows[row].ticks += `M${perRow} 0v${BAR}`;
      from = to;
    }
    if (token.end === nBytes && nBytes % perRow) rows[rows.length - 1].ticks += `M${nBytes % perRow} 0v${BAR}`;
  }
  return rows;
}
