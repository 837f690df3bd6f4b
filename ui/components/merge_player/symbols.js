// A word's symbols after any number of merges: its base symbols, merged anew in the run's order.

/** The merge that joins two symbols: the first at `floor` or later, Infinity where there is none. */
function rankFrom(run, left, right, floor) {
  // A symbol that the alphabet lacks is text, and joins nothing.
  if (typeof left !== "number" || typeof right !== "number") return Infinity;
  const ranks = run.ranks.get(left * run.size + right);
  if (!ranks) return Infinity;
  for (const rank of ranks) if (rank >= floor) return rank;
  return Infinity;
}

/** A word's symbols after the first `step` merges, as training had them: merges are applied in their
    order, each once. A symbol is {id, start, length}, counted in base symbols. */
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

/** Where the merge after `step` will join symbols: the index of each left one. */
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
