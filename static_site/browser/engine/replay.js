// The messages that the merge player plays, of a run that was learned here: what `trainers/trace.py` and
// `views/packing.py` do for the app. The merges are learned again by the kernels of training, from an index of all
// pairs, and before each the counts are looked at.

import { dumped, tableOfRun, tokenAt } from "./tokenizer_file.js";
import { idsOfBytes, rowBefore, Work } from "./training.js";

/** @import { EngineData } from "./cutting.js"
    @import { Memory } from "./memory.js"
    @import { Run } from "./training.js" */

const TOP = 10;
const TOUCHED = 16;
const GIVEN = 3;
const CHANGES = 3;
const N_SAVERS = 10;
const N_FREQUENT = 60;
const MAX_SYMBOLS = 400;
const AFTER_WORD = 255;
const LINE = 64;
const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @typedef {object} Replay
    @property {string} player The player's name, to which other messages are addressed.
    @property {number} opening The step that the player opens at.
    @property {number[]} starts The first merges of the blocks that it can ask for.
    @property {string} ending Why training stopped, as a sentence.
    @property {Record<string, unknown>} [end] What the last frame shows besides. */

/** Return the message of a whole run, which the player is given first.
    @param {Memory} memory All of which is this call's.
    @param {EngineData} data
    @param {Run} run
    @param {Replay} more
    @returns {Uint8Array} */
export function packRun(memory, data, run, { player, opening, starts, ending, end = {} }) {
  const { counts, tokensAfter, words } = run;
  const n = counts.length;
  const { tokens } = tableOfRun(run);
  const column = (/** @type {number} */ at) => Array.from({ length: n }, (_, rank) => run.merges[2 * rank + at]);
  const left = look(workAt(memory, data, run, n, n).countPairs());
  const last = left.best.map(left.idsOf);
  const saved = Array.from(counts, (_, rank) => /** @type {[number, number]} */ ([rank, tokensAfter[rank] - tokensAfter[rank + 1]]));
  const wordStarts = startsOfWords(words.letters);
  const frequent = [...words.counts.keys()]
    .filter((word) => wordStarts[word + 1] - wordStarts[word] > 2)
    .sort((one, other) => words.counts[other] - words.counts[one] || one - other);
  const header = {
    player,
    tokens: Array.from({ length: run.firstId + n }, (_, id) => asToken(tokenAt(tokens, id))),
    n_merges: n,
    n_pretokens: words.counts.length,
    block_starts: starts,
    n_for_terms: 0,
    languages: null,
    removals: [],
    opening_step: opening,
    tie_break: run.config.tieBreak,
    end_of_word: null,
    joins_words: false,
    ending,
    end: {
      before: tokensAfter[0],
      after: tokensAfter[n],
      savers: saved.sort(([one, a], [other, b]) => b - a || one - other).slice(0, N_SAVERS).filter(([, by]) => by),
      ...end,
    },
  };
  const arrays = {
    ...{ merge_left: column(0), merge_right: column(1), merge_id: column(0).map((_, rank) => run.firstId + rank), merge_count: [...counts] },
    ...{ last_left: last.map(([left]) => left), last_right: last.map(([, right]) => right), last_count: left.best.map(left.countOf) },
    ...packWords(run, wordStarts, frequent.slice(0, N_FREQUENT)),
  };
  return message(header, arrays);
}

/** Return the message of the merges start ... stop - 1: what training saw before each, and what it changed.
    @param {Memory} memory All of which is this call's.
    @param {EngineData} data
    @param {Run} run Learned with the tie rule "smallest-pair".
    @param {number} start
    @param {number} stop
    @param {string} player
    @returns {Uint8Array} */
export function packMerges(memory, data, run, start, stop, player) {
  if (run.config.tieBreak !== "smallest-pair") throw new Error("Only runs whose ties go to the smallest pair can be replayed here.");
  const work = workAt(memory, data, run, start, stop);
  work.newIndex(1);
  const given = wordsChanged(run, start, stop);
  /** @type {Record<string, number[]>} */
  const rows = Object.fromEntries([...COLUMNS, "touched", "touched_given"].map((name) => [name, []]));
  /** Add a few numbers to a row, and -1 for those that are missing.
      @param {string} name
      @param {number[]} numbers
      @param {number} width */
  const note = (name, numbers, width = 1) => {
    for (let i = 0; i < width; i++) rows[name].push(numbers[i] ?? -1);
  };
  let seen = look(work.pairs());
  /** The pairs that tie for first place, each with the first merge before which it does.
      @type {Map<number, number>} */
  let since = new Map();
  let tiedCount = 0;
  /** @type {number[][]} */
  const ties = [];
  for (let rank = start; rank <= stop; rank++) {
    const { best, most, tied, idsOf, countOf } = seen;
    const before = since;
    since = new Map();
    if (tied.length > 1 && rank < stop) for (const pair of tied) since.set(pair, (most === tiedCount ? before.get(pair) : undefined) ?? rank);
    for (const [pair, from] of before) if (since.get(pair) !== from) ties.push([...idsOf(pair), from, rank]);
    tiedCount = most;
    if (rank === stop) break;
    note("top_left", best.map((pair) => idsOf(pair)[0]), TOP);
    note("top_right", best.map((pair) => idsOf(pair)[1]), TOP);
    note("top_count", best.map(countOf), TOP);
    note("n_pairs", [seen.nPairs]);
    note("n_tied", [tied.length]);
    note("next_count", [seen.next]);
    const changing = [...given[rank - start]].sort(([one, a], [other, b]) => b - a || one - other);
    note("n_overlapping", [changing.reduce((rest, [, by]) => rest - by, most)]);
    note("n_words", [changing.length]);
    note("touched", changing.map(([word]) => word), TOUCHED);
    note("touched_given", changing.map(([, by]) => by), GIVEN);
    while (work.nDone <= rank - start) work.merge(rank - start + 1);
    const after = look(work.pairs());
    const changed = after.changes(seen).filter(([pair]) => pair !== best[0]);
    for (const [name, sign] of /** @type {[string, number][]} */ ([["risen", 1], ["fallen", -1]])) {
      const moved = changed.filter(([, by]) => sign * by > 0).sort(([one, a], [other, b]) => sign * (b - a) || after.inOrder(one, other));
      note(`${name}_left`, moved.map(([pair]) => after.idsOf(pair)[0]), CHANGES);
      note(`${name}_right`, moved.map(([pair]) => after.idsOf(pair)[1]), CHANGES);
      note(`${name}_by`, moved.map(([, by]) => sign * by), CHANGES);
    }
    seen = after;
  }
  ties.sort((one, other) => one.map((number, i) => number - other[i]).find(Boolean) ?? 0);
  ["tied_left", "tied_right", "tied_from", "tied_until"].forEach((name, i) => (rows[name] = ties.map((tie) => tie[i])));
  const words = [...new Set(rows.touched.filter((word) => word >= 0))].sort((one, other) => one - other);
  const places = new Map(words.map((word, place) => [word, place]));
  const { touched, touched_given, ...columns } = rows;
  const arrays = {
    ...columns,
    touched: touched.map((word) => places.get(word) ?? -1),
    ...packWords(run, startsOfWords(run.words.letters), words),
    touched_given,
  };
  const header = { player, start, stop, widths: { top: TOP, touched: TOUCHED, given: GIVEN, risen: CHANGES, fallen: CHANGES } };
  return message(header, arrays);
}

const COLUMNS = [
  ...["top_left", "top_right", "top_count", "n_pairs", "n_tied", "next_count", "n_overlapping", "n_words"],
  ...["tied_left", "tied_right", "tied_from", "tied_until", "risen_left", "risen_right", "risen_by"],
  ...["fallen_left", "fallen_right", "fallen_by"],
];

/** Return the training of a run as it was before a merge.
    @param {Memory} memory
    @param {EngineData} data
    @param {Run} run
    @param {number} start
    @param {number} stop */
function workAt(memory, data, run, start, stop) {
  const { words, config, firstId } = run;
  const row = rowBefore(words.letters, config.specialTokens.length, run, start);
  return new Work(memory, data, row, words.counts, firstId + start, stop - start, config);
}

/** Return the words that each merge changes, and how many of its occurrences each of them gives.
    @param {Run} run
    @param {number} start
    @param {number} stop */
function wordsChanged({ words, joinedAt }, start, stop) {
  const given = Array.from({ length: stop - start }, () => /** @type {Map<number, number>} */ (new Map()));
  for (let slot = 1, word = 0; slot < joinedAt.length; slot++) {
    const rank = joinedAt[slot];
    if (rank >= start && rank < stop) {
      const changed = given[rank - start];
      changed.set(word, (changed.get(word) ?? 0) + words.counts[word]);
    }
    if (words.letters[slot - 1] === AFTER_WORD) word += 1;
  }
  return given;
}

/** Return what training sees in the counts of pairs, of which some are 0.
    @param {{ keys: BigUint64Array, counts: Int32Array | Float64Array }} pairs */
function look({ keys, counts }) {
  const n = counts.length;
  const halves = new Uint32Array(keys.buffer, keys.byteOffset, 2 * n).slice();
  const inOrder = (/** @type {number} */ one, /** @type {number} */ other) =>
    halves[2 * one + 1] - halves[2 * other + 1] || halves[2 * one] - halves[2 * other];
  const bestFirst = (/** @type {number} */ one, /** @type {number} */ other) => counts[other] - counts[one] || inOrder(one, other);
  /** @type {number[]} */
  const best = [];
  /** @type {number[]} */
  let tied = []; // with the highest count
  let [nPairs, most, next, least] = [0, 0, 0, 1];
  for (let pair = 0; pair < n; pair++) {
    const count = counts[pair];
    nPairs += Number(count > 0);
    if (count > next) {
      if (count > most) [next, most, tied] = [most, count, []];
      if (count === most) tied.push(pair);
      else next = count;
    }
    if (count < least || (best.length === TOP && bestFirst(best[TOP - 1], pair) < 0)) continue;
    best.push(pair);
    best.sort(bestFirst).splice(TOP);
    if (best.length === TOP) least = counts[best[TOP - 1]];
  }
  return {
    counts, best, nPairs, most, tied, next, inOrder,
    idsOf: (/** @type {number} */ pair) => [halves[2 * pair + 1], halves[2 * pair]],
    countOf: (/** @type {number} */ pair) => counts[pair],
    /** Return the pairs whose counts were others before, and by how much they have grown.
        @param {{ counts: Int32Array | Float64Array }} before */
    changes: ({ counts: before }) => {
      /** @type {[number, number][]} */
      const found = [];
      for (let pair = 0; pair < n; pair++) {
        const by = counts[pair] - (pair < before.length ? before[pair] : 0);
        if (by) found.push([pair, by]);
      }
      return found;
    },
  };
}

// -- messages ---------------------------------------------------------------------------------

/** Return where each word starts, and the last ends.
    @param {Uint8Array} letters */
function startsOfWords(letters) {
  const starts = [0];
  letters.forEach((letter, at) => letter === AFTER_WORD && starts.push(at + 1));
  return starts;
}

/** @param {Run} run
    @param {number[]} starts
    @param {number[]} words */
function packWords(run, starts, words) {
  const idOf = idsOfBytes(run.config.specialTokens.length);
  const symbols = words.map((word) => Array.from(run.words.letters.subarray(starts[word], starts[word + 1] - 1), (byte) => idOf[byte]));
  const shown = symbols.map((each) => each.slice(0, MAX_SYMBOLS));
  let end = 0;
  return {
    word_index: words,
    word_symbols: shown.flat(),
    word_starts: [0, ...shown.map((each) => (end += each.length))],
    word_cut: symbols.map((each) => Number(each.length > MAX_SYMBOLS)),
    word_counts: words.map((word) => run.words.counts[word]),
  };
}

/** Return a token as text if its bytes are UTF-8.
    @param {Uint8Array} token */
export function asToken(token) {
  try {
    return STRICT_UTF8.decode(token);
  } catch {
    return [...token]; // The token splits a character.
  }
}

/** Return a JSON header after its length, and arrays that it lists, each in the smallest type that holds it.
    @param {object} header
    @param {Record<string, number[]>} arrays
    @returns {Uint8Array} */
function message(header, arrays) {
  /** @type {Record<string, [string, number, number[]]>} */
  const places = {};
  const parts = [];
  let size = 0;
  for (const [name, numbers] of Object.entries(arrays)) {
    const [low, high] = numbers.reduce(([least, most], number) => [Math.min(least, number), Math.max(most, number)], [0, 0]);
    const [type, Kind] = low >= -(2 ** 15) && high < 2 ** 15 ? ["int16", Int16Array] : low >= 0 && high < 2 ** 16 ? ["uint16", Uint16Array]
      : low >= -(2 ** 31) && high < 2 ** 31 ? ["int32", Int32Array] : ["float64", Float64Array];
    const bytes = new Uint8Array(/** @type {any} */ (Kind).from(numbers).buffer);
    places[name] = [/** @type {string} */ (type), size, [numbers.length]];
    parts.push({ at: size, bytes });
    size += Math.ceil(bytes.length / LINE) * LINE;
  }
  const text = new TextEncoder().encode(dumped({ ...header, arrays: places }));
  const room = Math.ceil((text.length + 4) / LINE) * LINE - 4;
  const whole = new Uint8Array(4 + room + size).fill(32, 4, 4 + room);
  new DataView(whole.buffer).setUint32(0, room, true);
  whole.set(text, 4);
  for (const { at, bytes } of parts) whole.set(bytes, 4 + room + at);
  return whole;
}
