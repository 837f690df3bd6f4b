// The symbols of a word at any step, found by applying the run's merges to its base symbols.

/** @import { Removal, Run } from "./run.js" */

/** A symbol, with its start and length in base symbols. `id` is text if the alphabet lacks the symbol.
    @typedef {object} PlacedSymbol
    @property {number | string} id
    @property {number} start
    @property {number} length */

/** Return the rank of the first merge from `floor` on that joins two symbols; Infinity if none does.
    @param {Run} run
    @param {number | string} left
    @param {number | string} right
    @param {number} floor */
function rankFrom(run, left, right, floor) {
  if (typeof left !== "number" || typeof right !== "number") return Infinity;
  return run.findRanks(left, right).find((rank) => rank >= floor) ?? Infinity;
}

/** Return a word's symbols after the first `step` merges, as in training: each merge is applied once, in
    order.
    @param {Run} run
    @param {(number | string)[]} base
    @param {number} step
    @returns {PlacedSymbol[]} */
export function symbolsAt(run, base, step) {
  let symbols = base.map((id, start) => ({ id, start, length: 1 }));
  for (let floor = 0, from = 0; ; ) {
    let next = step;
    for (let i = 0; i + 1 < symbols.length; i++) {
      next = Math.min(next, rankFrom(run, symbols[i].id, symbols[i + 1].id, floor));
    }
    const removed = run.removals.findIndex(
      ({ done, id }, i) => i >= from && done >= floor && done <= next && symbols.some((symbol) => symbol.id === id));
    if (removed >= 0) {
      symbols = withoutToken(symbols, run.removals[removed]);
      from = removed + 1;
      continue;
    }
    if (next >= step) return symbols;
    symbols = withMerge(symbols, run.merge_left[next], run.merge_right[next], run.merge_id[next]);
    floor = next + 1;
  }
}

/** Return symbols in which each occurrence of a token is its parts again.
    @param {PlacedSymbol[]} symbols
    @param {Removal} removal
    @returns {PlacedSymbol[]} */
function withoutToken(symbols, { id, parts }) {
  return symbols.flatMap((symbol) => {
    if (symbol.id !== id) return [symbol];
    let { start } = symbol;
    return parts.map(([part, length]) => {
      start += length;
      return { id: part, start: start - length, length };
    });
  });
}

/** Return symbols in which each occurrence of a pair is one symbol, from left to right without overlap.
    @param {PlacedSymbol[]} symbols
    @param {number} left
    @param {number} right
    @param {number} id
    @returns {PlacedSymbol[]} */
export function withMerge(symbols, left, right, id) {
  const merged = [];
  for (let i = 0; i < symbols.length; i++) {
    const one = symbols[i];
    const two = symbols[i + 1];
    if (two && one.id === left && two.id === right) {
      merged.push({ id, start: one.start, length: one.length + two.length });
      i++;
    } else {
      merged.push(one);
    }
  }
  return merged;
}

/** Return the index of each symbol that is the left part of a pair joined by the merge after `step`.
    @param {Run} run
    @param {PlacedSymbol[]} symbols
    @param {number} step
    @returns {Set<number>} */
export function chosenIn(run, symbols, step) {
  const chosen = new Set();
  if (step >= run.n_merges) return chosen;
  const left = run.merge_left[step];
  const right = run.merge_right[step];
  for (let i = 0; i + 1 < symbols.length; i++) {
    if (symbols[i].id === left && symbols[i + 1].id === right) chosen.add(i++);
  }
  return chosen;
}

/** Return the range of a word's `n` symbols to show if there is room for `most`: those around the first
    chosen one, with at most `before` ahead of it.
    @param {number} n
    @param {Set<number>} chosen
    @param {number} most
    @param {number} before */
export function symbolsAround(n, chosen, most, before) {
  const first = Math.min(...chosen, n);
  const from = n > most ? Math.max(0, Math.min(first - before, n - most)) : 0;
  return { from, to: Math.min(n, from + most) };
}
