// A word's symbols after any number of merges: its base symbols, merged again in the run's order.

/** @import { Run } from "./run.js" */

/** A symbol, its beginning and its length counted in base symbols. One that the alphabet lacks is text.
    @typedef {object} PlacedSymbol
    @property {number | string} id
    @property {number} start
    @property {number} length */

/** Return the merge that joins two symbols: the first at `floor` or later, Infinity where none does.
    @param {Run} run
    @param {number | string} left
    @param {number | string} right
    @param {number} floor */
function rankFrom(run, left, right, floor) {
  if (typeof left !== "number" || typeof right !== "number") return Infinity;
  return run.ranksOf(left, right).find((rank) => rank >= floor) ?? Infinity;
}

/** Return a word's symbols after the first `step` merges, as training had them: merges are applied in
    their order, each once.
    @param {Run} run
    @param {(number | string)[]} base
    @param {number} step
    @returns {PlacedSymbol[]} */
export function symbolsAt(run, base, step) {
  let symbols = base.map((id, start) => ({ id, start, length: 1 }));
  for (let floor = 0; ; ) {
    let next = step;
    for (let i = 0; i + 1 < symbols.length; i++) {
      next = Math.min(next, rankFrom(run, symbols[i].id, symbols[i + 1].id, floor));
    }
    if (next >= step) return symbols;
    symbols = withMerge(symbols, run.merge_left[next], run.merge_right[next], run.merge_id[next]);
    floor = next + 1;
  }
}

/** @param {PlacedSymbol[]} symbols
    @param {number} left
    @param {number} right
    @param {number} id */
function withMerge(symbols, left, right, id) {
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

/** Return where the merge after `step` will join symbols: the index of each left one.
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

/** Return which symbols of a word to show, from one to before another, where no more than `most` have
    room: those around the chosen one, with at most `before` in front of it.
    @param {number} n
    @param {Set<number>} chosen
    @param {number} most
    @param {number} before */
export function symbolsAround(n, chosen, most, before) {
  const first = Math.min(...chosen, n);
  const from = n > most ? Math.max(0, Math.min(first - before, n - most)) : 0;
  return { from, to: Math.min(n, from + most) };
}
