// The run as the browser holds it: the arrays of Python's messages, its traced blocks of merges, and
// what they say of a step. Nothing is drawn here.

const TYPES = { int16: Int16Array, uint16: Uint16Array, int32: Int32Array, float64: Float64Array };

/** A message from Python: a header and the arrays that it names, as one object. */
export function unpack(message) {
  // A copy has its own buffer from 0 on, so that the arrays in it are aligned.
  const buffer = Uint8Array.from(message).buffer;
  const length = new DataView(buffer).getUint32(0, true);
  const content = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  for (const [name, [type, offset, size]] of Object.entries(content.arrays)) {
    content[name] = new TYPES[type](buffer, 4 + length + offset, size);
  }
  return content;
}

/** The run as the player reads it: tokens, merges, frequent words; no block of traced merges yet. */
export function unpackRun(message) {
  const run = unpack(message);
  run.blocks = new Map();
  run.size = run.tokens.length;
  run.firstMade = new Map();
  run.ranks = new Map();
  for (let rank = 0; rank < run.n_merges; rank++) {
    const key = run.merge_left[rank] * run.size + run.merge_right[rank];
    const known = run.ranks.get(key);
    // The same pair can be merged again where a later merge spells an old token anew.
    if (known === undefined) run.ranks.set(key, [rank]);
    else known.push(rank);
    if (!run.firstMade.has(run.merge_id[rank])) run.firstMade.set(run.merge_id[rank], rank);
  }
  run.isLearned = (id) => run.firstMade.has(id);
  return run;
}

/** The words that came with a message, as the grid draws them. */
export function wordsIn(message) {
  return Array.from(message.word_counts, (count, word) => ({
    key: `word ${message.word_index[word]}`,
    base: Array.from(message.word_symbols.subarray(message.word_starts[word], message.word_starts[word + 1])),
    count,
    cut: message.word_cut[word] === 1,
  }));
}

export function sameBytes(one, two) {
  return one.length === two.length && one.every((byte, i) => byte === two[i]);
}

/** The number of the block that holds the merge after `step`; the last where there is none. */
export function blockNumber(run, step) {
  const merge = Math.max(0, Math.min(step, run.n_merges - 1));
  let low = 0;
  let high = run.block_starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (run.block_starts[middle] <= merge) low = middle;
    else high = middle;
  }
  return low;
}

/** Keeps traced merges: the message may hold those of several blocks. */
export function keepBlocks(run, block) {
  block.words = wordsIn(block);
  const last = blockNumber(run, block.stop - 1);
  for (let number = blockNumber(run, block.start); number <= last; number++) run.blocks.set(number, block);
}

/** The traced merges that hold the merge after `step`; undefined where they have not come. */
export function blockAt(run, step) {
  return run.blocks.get(blockNumber(run, step));
}

/** A saved replay holds the trace of these merges alone, and nobody can be asked for more. */
export function mergesSaved(run) {
  const [block] = run.isSaved ? run.blocks.values() : [];
  return block ?? null;
}

export function isTraced(run, step) {
  return step < run.n_merges && blockAt(run, step) !== undefined;
}

/** A figure of the trace of the merge after `step`. */
export function traced(run, name, step) {
  const block = blockAt(run, step);
  return block[name][step - block.start];
}

/** The first rows of a traced table: [{left, right, count}], without the fill at their end. */
export function tableRow(run, name, step, countName = "count") {
  const block = blockAt(run, step);
  const width = block.widths[name];
  const from = (step - block.start) * width;
  const rows = [];
  for (let i = from; i < from + width && block[`${name}_left`][i] >= 0; i++) {
    rows.push({
      left: block[`${name}_left`][i],
      right: block[`${name}_right`][i],
      count: block[`${name}_${countName}`][i],
    });
  }
  return rows;
}

/** All pairs that tie for the first place, in the order of the rule; none where the winner is alone. */
export function tiesAt(run, step) {
  const { tied_left, tied_right, tied_from, tied_until } = blockAt(run, step);
  const pairs = [];
  for (let i = 0; i < tied_left.length; i++) {
    if (tied_from[i] <= step && step < tied_until[i]) pairs.push({ left: tied_left[i], right: tied_right[i] });
  }
  return pairs;
}

/** The most frequent pairs after `step` merges, the next to merge first; null where not traced. */
export function raceAt(run, step) {
  if (step >= run.n_merges) {
    return Array.from(run.last_count, (count, i) => ({
      left: run.last_left[i], right: run.last_right[i], count, next: false, tied: false,
    }));
  }
  if (!isTraced(run, step)) return null;
  return tableRow(run, "top", step).map((pair, i, all) => ({
    ...pair, next: i === 0, tied: i > 0 && pair.count === all[0].count,
  }));
}
