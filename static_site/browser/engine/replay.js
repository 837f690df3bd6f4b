// The messages that the merge player plays, of a run that was learned here: what `runs/trace.py` and
// `views/packing.py` do for the app.

import { dumped, tableOfRun, tokenAt } from "./tokenizer_file.js";
import { idsOfBytes, NEVER } from "./training.js";

/** @import { Run } from "./training.js" */

/** @typedef {{ count: number, left: number, right: number, key: number }} Entry A pair in the queue. */

const TOP = 10;
const TOUCHED = 16;
const GIVEN = 3;
const CHANGES = 3;
const N_SAVERS = 10;
const N_FREQUENT = 60;
const MAX_SYMBOLS = 400;
const CLOSE_COUNTS = 256;
const ID = 2 ** 26; // more than there are ids
const AFTER_WORD = 255;
const BETWEEN = -1;
const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @typedef {object} Replay
    @property {string} player The player's name, to which other messages are addressed.
    @property {number} opening The step that the player opens at.
    @property {number[]} starts The first merges of the blocks that it can ask for.
    @property {string} ending Why training stopped, as a sentence.
    @property {Record<string, unknown>} [end] What the last frame shows besides. */

/** Return the message of a whole run, which the player is given first.
    @param {Run} run
    @param {Replay} more
    @returns {Uint8Array} */
export function packRun(run, { player, opening, starts, ending, end = {} }) {
  const { counts, tokensAfter, words } = run;
  const n = counts.length;
  const { tokens } = tableOfRun(run);
  const column = (/** @type {number} */ at) => Array.from({ length: n }, (_, rank) => run.merges[2 * rank + at]);
  const last = new Tracer(run, n).top(TOP);
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
    ...{ last_left: last.map(({ left }) => left), last_right: last.map(({ right }) => right), last_count: last.map(({ count }) => count) },
    ...packWords(run, wordStarts, frequent.slice(0, N_FREQUENT)),
  };
  return message(header, arrays);
}

/** Return the message of the merges start ... stop - 1: what training saw before each, and what it changed.
    @param {Run} run Learned with the tie rule "smallest-pair".
    @param {number} start
    @param {number} stop
    @param {string} player
    @returns {Uint8Array} */
export function packMerges(run, start, stop, player) {
  if (run.config.tieBreak !== "smallest-pair") throw new Error("Only runs whose ties go to the smallest pair can be replayed here.");
  const tracer = new Tracer(run, start);
  for (let rank = start; rank < stop; rank++) tracer.step(rank);
  const { rows, touched } = tracer;
  const words = [...new Set(touched.filter((word) => word >= 0))].sort((one, other) => one - other);
  const places = new Map(words.map((word, place) => [word, place]));
  const arrays = {
    ...rows,
    ...tracer.endedTies(stop),
    touched: touched.map((word) => places.get(word) ?? -1),
    ...packWords(run, startsOfWords(run.words.letters), words),
    touched_given: tracer.given,
  };
  const order = [...COLUMNS, "touched", "word_index", "word_symbols", "word_starts", "word_cut", "word_counts", "touched_given"];
  const header = { player, start, stop, widths: { top: TOP, touched: TOUCHED, given: GIVEN, risen: CHANGES, fallen: CHANGES } };
  return message(header, Object.fromEntries(order.map((name) => [name, /** @type {Record<string, number[]>} */ (arrays)[name]])));
}

const COLUMNS = [
  ...["top_left", "top_right", "top_count", "n_pairs", "n_tied", "next_count", "n_overlapping", "n_words"],
  ...["tied_left", "tied_right", "tied_from", "tied_until", "risen_left", "risen_right", "risen_by"],
  ...["fallen_left", "fallen_right", "fallen_by"],
];

/** The row of symbols while merges are applied, with the counts of all pairs. */
class Tracer {
  /** @type {Record<string, number[]>} */
  rows = Object.fromEntries(COLUMNS.filter((name) => !name.startsWith("tied")).map((name) => [name, []]));
  /** @type {number[]} */
  touched = [];
  /** @type {number[]} */
  given = [];
  #run;
  /** @type {number[]} */
  #ids = [];
  #before;
  #after;
  /** The word of each slot.
      @type {number[]} */
  #words = [];
  /** The slots that each merge joins to the ones before them.
      @type {Map<number, number[]>} */
  #places = new Map();
  /** @type {Map<number, number>} */
  #counts = new Map();
  /** How many pairs have each count.
      @type {Map<number, number>} */
  #nWith = new Map();
  /** @type {Entry[]} */
  #heap = [];
  #tiedCount = -1;
  /** @type {Map<number, number>} */
  #tiedSince = new Map();
  /** @type {[number, number, number][]} */
  #ended = [];

  /** @param {Run} run
      @param {number} start The step to begin at. */
  constructor(run, start) {
    this.#run = run;
    const { letters } = run.words;
    const idOf = idsOfBytes(run.config.specialTokens.length);
    let made = -1;
    for (let slot = 0, word = -1; slot < run.joinedAt.length; slot++) {
      const rank = run.joinedAt[slot];
      if (rank < start) {
        made = Math.max(made, rank);
        this.#ids[this.#ids.length - 1] = run.firstId + made;
        continue;
      }
      made = -1;
      const isGap = slot === 0 || letters[slot - 1] === AFTER_WORD;
      if (isGap) word += 1;
      const place = this.#ids.push(isGap ? BETWEEN : idOf[letters[slot - 1]]) - 1;
      this.#words.push(word);
      const places = this.#places.get(rank);
      if (places) places.push(place);
      else if (rank !== NEVER) this.#places.set(rank, [place]);
    }
    const n = this.#ids.length;
    this.#before = Int32Array.from({ length: n }, (_, slot) => slot - 1);
    this.#after = Int32Array.from({ length: n }, (_, slot) => slot + 1);
    for (let slot = 0; slot + 1 < n; slot++) {
      const key = this.#keyAt(slot);
      if (key >= 0) this.#counts.set(key, (this.#counts.get(key) ?? 0) + this.#weight(slot));
    }
    for (const [key, count] of this.#counts) {
      this.#tally(count, 1);
      this.#heap.push(entry(key, count));
    }
    this.#heap.sort(inOrder); // so it is a heap
  }

  /** Note what training saw before a merge, and do the merge.
      @param {number} rank */
  step(rank) {
    const { merges, firstId } = this.#run;
    const winner = merges[2 * rank] * ID + merges[2 * rank + 1];
    const count = this.#counts.get(winner) ?? 0;
    const best = this.top(TOP);
    const { rows } = this;
    for (let i = 0; i < TOP; i++) {
      rows.top_left.push(best[i]?.left ?? -1);
      rows.top_right.push(best[i]?.right ?? -1);
      rows.top_count.push(best[i]?.count ?? -1);
    }
    rows.n_pairs.push(this.#counts.size);
    rows.n_tied.push(this.#nWith.get(count) ?? 0);
    rows.next_count.push(this.#nextBelow(count));
    this.#tiesBefore(rank, count);
    const seconds = this.#places.get(rank) ?? [];
    this.#noteWords(seconds, count);
    const changes = this.#merge(seconds, winner, firstId + rank);
    const after = changes.map(([key, by]) => {
      const before = this.#counts.get(key) ?? 0;
      this.#setCount(key, before + by);
      if (by > 0) push(this.#heap, entry(key, before + by));
      return { key, before, after: before + by };
    });
    this.#tiesAfter(rank, winner, after);
    for (const [name, sign] of /** @type {[string, number][]} */ ([["risen", 1], ["fallen", -1]])) {
      const moved = changes.filter(([, by]) => sign * by > 0).sort(([one, a], [other, b]) => sign * (b - a) || one - other);
      for (let i = 0; i < CHANGES; i++) {
        const [key, by] = moved[i] ?? [];
        rows[`${name}_left`].push(key === undefined ? -1 : Math.floor(key / ID));
        rows[`${name}_right`].push(key === undefined ? -1 : key % ID);
        rows[`${name}_by`].push(by === undefined ? -1 : sign * by);
      }
    }
  }

  /** Return the k best pairs, best first.
      @param {number} k */
  top(k) {
    /** @type {Entry[]} */
    const taken = [];
    for (let best = this.#best(); best && taken.length < k; best = this.#best()) {
      pop(this.#heap);
      if (taken.at(-1)?.key !== best.key) taken.push(best);
    }
    for (const each of taken) push(this.#heap, each);
    return taken;
  }

  /** Return the best pair, once its entry is at the top of the heap. */
  #best() {
    const heap = this.#heap;
    while (heap.length) {
      const [{ key, count }] = heap;
      const now = this.#counts.get(key) ?? 0;
      if (now === count) return heap[0];
      pop(heap);
      if (now) push(heap, entry(key, now));
    }
    return undefined;
  }

  /** End all ties; return them, by pair.
      @param {number} stop */
  endedTies(stop) {
    this.#endTies(stop);
    const ended = this.#ended.sort((one, other) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2]);
    return {
      tied_left: ended.map(([key]) => Math.floor(key / ID)),
      tied_right: ended.map(([key]) => key % ID),
      tied_from: ended.map(([, from]) => from),
      tied_until: ended.map(([, , until]) => until),
    };
  }

  /** @param {number} slot */
  #weight(slot) {
    return this.#run.words.counts[this.#words[slot]];
  }

  /** Return the pair that starts at a slot, -1 if none does.
      @param {number} slot */
  #keyAt(slot) {
    const left = this.#ids[slot];
    const right = this.#ids[this.#after[slot]];
    return left >= 0 && right >= 0 ? left * ID + right : -1;
  }

  /** @param {number} key
      @param {number} count */
  #setCount(key, count) {
    this.#tally(this.#counts.get(key) ?? 0, -1);
    this.#tally(count, 1);
    if (count) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }

  /** @param {number} count
      @param {number} by */
  #tally(count, by) {
    if (!count) return;
    const n = (this.#nWith.get(count) ?? 0) + by;
    if (n) this.#nWith.set(count, n);
    else this.#nWith.delete(count);
  }

  /** Return the highest count below this one, 0 if there is none.
      @param {number} count */
  #nextBelow(count) {
    for (let close = count - 1; close > Math.max(0, count - CLOSE_COUNTS); close--) if (this.#nWith.has(close)) return close;
    let most = 0;
    for (const each of this.#nWith.keys()) if (each < count && each > most) most = each;
    return most;
  }

  /** Note the words that a merge changes, and how many of its occurrences each gives.
      @param {number[]} seconds
      @param {number} count */
  #noteWords(seconds, count) {
    /** @type {Map<number, number>} */
    const given = new Map();
    let joined = 0;
    for (const slot of seconds) {
      joined += this.#weight(slot);
      given.set(this.#words[slot], (given.get(this.#words[slot]) ?? 0) + this.#weight(slot));
    }
    this.rows.n_overlapping.push(count - joined);
    this.rows.n_words.push(given.size);
    const most = [...given].sort(([one, a], [other, b]) => b - a || one - other);
    for (let i = 0; i < TOUCHED; i++) this.touched.push(most[i]?.[0] ?? -1);
    for (let i = 0; i < GIVEN; i++) this.given.push(most[i]?.[1] ?? -1);
  }

  /** Join slots to the ones before them; return the other pairs whose counts change, ascending, and by how much.
      @param {number[]} seconds
      @param {number} winner
      @param {number} made
      @returns {[number, number][]} */
  #merge(seconds, winner, made) {
    /** @type {Map<number, number>} */
    const changes = new Map();
    const change = (/** @type {Set<number>} */ slots, /** @type {number} */ sign) => {
      for (const slot of slots) {
        const key = this.#keyAt(slot);
        if (key >= 0 && key !== winner) changes.set(key, (changes.get(key) ?? 0) + sign * this.#weight(slot));
      }
    };
    const firsts = seconds.map((slot) => this.#before[slot]);
    // Before the first word there is a gap, so each slot has one before it.
    change(new Set([...seconds, ...firsts.map((slot) => this.#before[slot])]), -1);
    seconds.forEach((slot, i) => {
      const first = firsts[i];
      this.#ids[first] = made;
      this.#ids[slot] = BETWEEN;
      this.#after[first] = this.#after[slot];
      this.#before[this.#after[slot]] = first;
    });
    change(new Set([...firsts, ...firsts.map((slot) => this.#before[slot])]), 1);
    this.#setCount(winner, 0);
    return [...changes].sort(([one], [other]) => one - other);
  }

  /** @param {number} rank
      @param {number} count */
  #tiesBefore(rank, count) {
    const nTied = this.#nWith.get(count) ?? 0;
    if (nTied > 1 && count === this.#tiedCount) return;
    this.#endTies(rank);
    if (nTied < 2) return;
    this.#tiedCount = count;
    for (const { key } of this.top(nTied)) this.#tiedSince.set(key, rank);
  }

  /** @param {number} rank
      @param {number} winner
      @param {{ key: number, before: number, after: number }[]} changed */
  #tiesAfter(rank, winner, changed) {
    if (this.#tiedCount < 0) return;
    this.#endTie(winner, rank + 1);
    for (const { key, before, after } of changed) {
      if (before !== this.#tiedCount && after !== this.#tiedCount) continue;
      if (this.#tiedSince.has(key) && after !== this.#tiedCount) this.#endTie(key, rank + 1);
      if (after === this.#tiedCount && !this.#tiedSince.has(key)) this.#tiedSince.set(key, rank + 1);
    }
  }

  /** @param {number} rank */
  #endTies(rank) {
    for (const key of [...this.#tiedSince.keys()]) this.#endTie(key, rank);
    this.#tiedCount = -1;
  }

  /** @param {number} key
      @param {number} rank */
  #endTie(key, rank) {
    const since = this.#tiedSince.get(key);
    this.#tiedSince.delete(key);
    if (since !== undefined && since < rank) this.#ended.push([key, since, rank]);
  }
}

// -- a heap of pairs --------------------------------------------------------------------------

/** @param {number} key
    @param {number} count
    @returns {Entry} */
function entry(key, count) {
  return { count, left: Math.floor(key / ID), right: key % ID, key };
}

/** @param {Entry} one
    @param {Entry} other */
function inOrder(one, other) {
  return other.count - one.count || one.key - other.key;
}

/** @param {Entry[]} heap
    @param {Entry} added */
function push(heap, added) {
  let i = heap.push(added) - 1;
  while (i > 0 && inOrder(added, heap[(i - 1) >> 1]) < 0) {
    heap[i] = heap[(i - 1) >> 1];
    i = (i - 1) >> 1;
  }
  heap[i] = added;
}

/** @param {Entry[]} heap */
function pop(heap) {
  const last = heap.pop();
  if (!heap.length || !last) return;
  let i = 0;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && inOrder(heap[child + 1], heap[child]) < 0) child += 1;
    if (inOrder(heap[child], last) >= 0) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = last;
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
  /** @type {Record<string, [string, number, number]>} */
  const places = {};
  const parts = [];
  let size = 0;
  for (const [name, numbers] of Object.entries(arrays)) {
    const [low, high] = numbers.reduce(([least, most], number) => [Math.min(least, number), Math.max(most, number)], [0, 0]);
    const [type, Kind] = low >= -(2 ** 15) && high < 2 ** 15 ? ["int16", Int16Array] : low >= 0 && high < 2 ** 16 ? ["uint16", Uint16Array]
      : low >= -(2 ** 31) && high < 2 ** 31 ? ["int32", Int32Array] : ["float64", Float64Array];
    const bytes = new Uint8Array(/** @type {any} */ (Kind).from(numbers).buffer);
    places[name] = [/** @type {string} */ (type), size, numbers.length];
    parts.push({ at: size, bytes });
    size += Math.ceil(bytes.length / 8) * 8;
  }
  const text = new TextEncoder().encode(dumped({ ...header, arrays: places }));
  const room = Math.ceil((text.length + 4) / 8) * 8 - 4;
  const whole = new Uint8Array(4 + room + size).fill(32, 4, 4 + room);
  new DataView(whole.buffer).setUint32(0, room, true);
  whole.set(text, 4);
  for (const { at, bytes } of parts) whole.set(bytes, 4 + room + at);
  return whole;
}
