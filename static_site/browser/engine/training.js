// Learn merges from documents with the kernels: what `corpus/count_compiled.py`, `kernels/learning.py` and
// `kernels/indexing.py` do for the app, with one thread.

import { Cut } from "./cutting.js";

/** @import { EngineData } from "./cutting.js"
    @import { Memory, Numbers } from "./memory.js" */

/** @typedef {object} TrainingOptions
    @property {Uint8Array[]} documents UTF-8.
    @property {number} vocabSize Everything: special tokens, 256 bytes, and merges.
    @property {string} cut The name of a pre-tokenizer, such as "gpt2".
    @property {number} [minFrequency] A pair must occur at least so often.
    @property {string[]} [specialTokens] They take the first ids.
    @property {"smallest-pair" | "first-seen"} [tieBreak] */

/** @typedef {object} Run What a training learned; all of it can be cloned and kept.
    @property {{ vocabSize: number, cut: string, minFrequency: number, specialTokens: string[], tieBreak: string }} config
    @property {number} nBytes The size of the documents.
    @property {Int32Array} merges The left and the right id of each merge; the first makes the id `firstId`.
    @property {number} firstId
    @property {Float64Array} counts How often each merge's pair occurred.
    @property {Float64Array} tokensAfter The tokens of the documents after each number of merges.
    @property {{ letters: Uint8Array, counts: Float64Array }} words The distinct pre-tokens in the order first
      seen, 255 after each, and how often each occurs.
    @property {Int32Array} joinedAt For a gap, then for each byte and gap of `words.letters`: the rank of the merge
      that joined it to the byte before, NEVER if none did.
    @property {"vocab-size" | "min-frequency" | "no-pairs" | "cancelled"} stopReason
    @property {number} seconds */

/** @typedef {{ stage: "counting" | "merging", done: number, total: number, tokens?: number, count?: number }} Progress */

export const NEVER = 2 ** 31 - 1;
const AFTER_WORD = 255;
const BETWEEN = -1;
const N_BYTES = 256;
const NO_LIMIT = 2 ** 31 - 1;
const BLOCK = 1 << 21; // bytes counted between two looks at messages
const SCAN_AHEAD = 8192;
const MIN_ENTRIES = 1 << 13;
const BATCH = 256;
const MIN_CELLS = 1 << 12;
const SPARE = 1024;
const THRESHOLD_SHARE = 512;
const WORDS_SAMPLED = 1 << 16;
const SECONDS_A_CALL = 0.02;
const MIN_PER_CALL = 16;
const MAX_PER_CALL = 1 << 14;
const EMPTY = -1; // all bits set
const DONE = 0;
const SMALL_BUFFERS = 1;
const BELOW_THRESHOLD = 1;
const SMALL_INDEX = 2;

/** Learn merges. Takes turns with other tasks of its thread, about every 20 ms.
    @param {Memory} memory All of which is this training's.
    @param {EngineData} data
    @param {TrainingOptions} options
    @param {(progress: Progress) => void} onProgress
    @param {() => Promise<boolean>} shouldStop
    @returns {Promise<Run>} */
export async function train(memory, data, options, onProgress, shouldStop) {
  const started = performance.now();
  const { documents, vocabSize, cut, minFrequency = 0, specialTokens = [], tieBreak = "smallest-pair" } = options;
  const config = { vocabSize, cut, minFrequency, specialTokens, tieBreak };
  const firstId = specialTokens.length + N_BYTES;
  if (vocabSize < firstId) throw new Error(`A vocabulary of ${vocabSize} is too small: it starts with ${firstId} tokens.`);
  const nBytes = documents.reduce((n, document) => n + document.length, 0);
  documents.forEach(checkUtf8);
  const words = await countWords(memory, data, new Cut(memory, data, cut), documents, (done) => {
    onProgress({ stage: "counting", done, total: nBytes });
    return shouldStop();
  });
  if (!words.counts.length && !words.isCancelled) throw new Error("There is no text to learn from.");
  const row = rowBefore(words.letters, specialTokens.length);
  const work = new Work(memory, data, row, words.counts, firstId, vocabSize - firstId, config);
  const stopReason = words.isCancelled ? "cancelled" : await work.run(onProgress, shouldStop);
  return {
    config,
    nBytes,
    firstId,
    ...work.result(),
    words: { letters: words.letters, counts: words.counts },
    stopReason,
    seconds: (performance.now() - started) / 1000,
  };
}

/** Throw an Error if a document is not UTF-8, which the kernels rely on.
    @param {Uint8Array} document
    @param {number} number */
function checkUtf8(document, number) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for (let at = 0; at < document.length; at += BLOCK) decoder.decode(document.subarray(at, at + BLOCK), { stream: true });
    decoder.decode();
  } catch {
    throw new Error(`Document ${number + 1} is not UTF-8 text.`);
  }
}

/** Return the id of each byte in a new vocabulary: as in Hugging Face's trainer, printable bytes come first.
    @param {number} nSpecial */
export function idsOfBytes(nSpecial) {
  const isPrintable = (/** @type {number} */ byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  const bytes = Array.from({ length: N_BYTES }, (_, byte) => byte);
  const order = [...bytes.filter(isPrintable), ...bytes.filter((byte) => !isPrintable(byte))];
  const ids = new Int32Array(N_BYTES);
  order.forEach((byte, place) => (ids[byte] = nSpecial + place));
  return ids;
}

/** Count the distinct pre-tokens of documents, in the order first seen.
    @param {Memory} memory
    @param {EngineData} data
    @param {Cut} cut
    @param {Uint8Array[]} documents
    @param {(done: number) => Promise<boolean>} look Returns whether to stop. */
async function countWords(memory, data, cut, documents, look) {
  const capacity = (/** @type {Numbers} */ entries) => Math.floor(((entries.shape[0] / data.ENTRY) * 3) / 4);
  const entries = memory.array("uint64", data.ENTRY * MIN_ENTRIES, 0);
  let table = {
    entries,
    starts: memory.array("int64", capacity(entries)),
    firsts: memory.array("int64", capacity(entries)),
    letters: memory.array("uint8", 8 * MIN_ENTRIES),
    used: memory.array("int64", 2, 0),
  };
  const grow = () => {
    const [nWords] = memory.read(table.used);
    if (nWords + BATCH > capacity(table.entries)) {
      const larger = memory.longer(table.entries, 2 * table.entries.shape[0]);
      memory.call("counting.spread_entries", { entries: larger });
      const room = capacity(larger);
      table = { ...table, entries: larger, starts: memory.longer(table.starts, room), firsts: memory.longer(table.firsts, room) };
    } else {
      table = { ...table, letters: memory.longer(table.letters, 2 * table.letters.shape[0]) };
    }
  };
  const batch = Object.fromEntries(["low", "high", "starts", "places", "fetched"].map((name) => [name, memory.array("uint64", BATCH)]));
  let ends = memory.array("int64", SCAN_AHEAD);
  let text = memory.array("uint8", 2 * BLOCK);
  let done = 0;
  let isCancelled = false;
  for (const document of documents) {
    for (let begin = 0; begin < document.length && !isCancelled; ) {
      isCancelled = await look(done + begin);
      const { part, stop } = takeBlock(document, begin);
      begin = stop;
      const [bounds, reached] = [memory.copy("int64", [0, part.shape[0]]), memory.array("int64", 2, 0)];
      for (;;) {
        const status = memory.call("counting.count_words", { scanner: cut.scanner, text: part, bounds, ends, words: table, batch, base: 0, reached });
        if (status === DONE) break;
        if (status === SMALL_BUFFERS) ends = memory.longer(ends, 2 * ends.shape[0]);
        else grow();
      }
      memory.free({ bounds, reached });
    }
    done += document.length;
  }
  isCancelled ||= await look(done);
  const [nWords, nLetters] = memory.read(table.used);
  const counts = memory.array("int64", nWords, 0);
  memory.call("counting.gather_counts", { entries: table.entries, counts });
  const result = {
    letters: memory.view(table.letters).slice(0, nLetters),
    counts: memory.read(counts),
    isCancelled,
  };
  for (const each of [table, batch, ends, text, counts, cut.scanner]) memory.free(each);
  return result;

  /** Put the next part of a document into the memory, cut where no pre-token crosses.
      @param {Uint8Array} document
      @param {number} begin */
  function takeBlock(document, begin) {
    for (let size = 2 * BLOCK; ; size *= 2) {
      const stop = Math.min(document.length, begin + size);
      if (stop - begin > text.shape[0]) text = memory.longer(text, stop - begin);
      const part = memory.part(text, 0, stop - begin);
      memory.view(part).set(document.subarray(begin, stop));
      if (stop === document.length) return { part, stop };
      const cutAt = cut.safeSplit(part, size / 2);
      if (cutAt < stop - begin) return { part: memory.part(text, 0, cutAt), stop: begin + cutAt };
    }
  }
}

/** Return the row of symbols before a merge of a run, or before all of a new one: a gap, then the ids of each word
    and a gap.
    @param {Uint8Array} letters See `Run.words`.
    @param {number} nSpecial
    @param {{ firstId: number, joinedAt: Int32Array }} [run]
    @param {number} [start] */
export function rowBefore(letters, nSpecial, run, start = 0) {
  const idOf = idsOfBytes(nSpecial);
  idOf[AFTER_WORD] = BETWEEN;
  const ids = new Int32Array(letters.length + 1).fill(BETWEEN);
  let n = 1;
  let last = -1; // the merge that made the symbol so far
  for (let at = 0; at < letters.length; at++) {
    const rank = run ? run.joinedAt[at + 1] : NEVER;
    if (run && rank < start) {
      last = Math.max(last, rank);
      ids[n - 1] = run.firstId + last;
    } else {
      last = -1;
      ids[n++] = idOf[letters[at]];
    }
  }
  return ids.subarray(0, n);
}

/** The arrays that the kernels of training work on; they are enlarged when a kernel runs out of room. */
export class Work {
  #memory;
  #data;
  #floor;
  #firstId;
  #wanted;
  #nSymbols = 0;
  /** @type {Record<string, any>} */
  #index = {};
  /** @type {Record<string, any>} */
  #row;
  #tokens;
  #rule;
  #spelled;
  #log;
  #scratch;

  /** @param {Memory} memory
      @param {EngineData} data
      @param {Int32Array} row See `rowBefore`.
      @param {ArrayLike<number>} wordCounts
      @param {number} firstId What the first merge makes.
      @param {number} wanted How many merges to learn at most.
      @param {Run["config"]} config */
  constructor(memory, data, row, wordCounts, firstId, wanted, config) {
    this.#memory = memory;
    this.#data = data;
    this.#firstId = firstId;
    this.#floor = Math.max(1, config.minFrequency);
    const nSlots = row.length;
    this.#wanted = Math.min(wanted, nSlots);
    const nIds = firstId + this.#wanted;
    this.#row = { ids: memory.copy("int32", row), weights: memory.copy("int32", wordCounts), large: memory.array("int64", 0) };
    let word = -1;
    for (const id of row) {
      if (id === BETWEEN) word += 1;
      else this.#nSymbols += wordCounts[word];
    }
    this.#tokens = {
      n_slots: memory.array("int32", nIds, 1),
      n_bytes: memory.array("int32", nIds, 1),
      end_ranks: memory.array("int32", nIds, NEVER),
    };
    this.#rule = { first_seen: Number(config.tieBreak === "first-seen"), max_token_bytes: NO_LIMIT };
    const none = memory.array("uint64", 0);
    this.#spelled = { known: none, hashes: none, factors: none, allowed: none, weights: memory.array("int32", 0), heaviest: NO_LIMIT };
    this.#log = {
      pairs: memory.array("int32", [this.#wanted, 2], 0),
      counts: memory.array("int64", this.#wanted, 0),
      saved: memory.array("int64", this.#wanted, 0),
      n_done: memory.array("int64", 1, 0),
      first_id: firstId,
    };
    const half = Math.floor(nSlots / 2) + 1;
    this.#scratch = {
      merged: memory.array("int32", nSlots + 1),
      weights: memory.array("int32", nSlots + 1),
      befores: memory.array("int32", half),
      afters: memory.array("int32", half),
      count_before: memory.array("int64", nIds, 0),
      count_after: memory.array("int64", nIds, 0),
      n_before: memory.array("int32", nIds, 0),
      n_after: memory.array("int32", nIds, 0),
      neighbours: memory.array("int32", nIds),
    };
  }

  /** The number of merges so far. */
  get nDone() {
    return this.#memory.read(this.#log.n_done)[0];
  }

  /** Learn until a stop condition is met.
      @param {(progress: Progress) => void} onProgress
      @param {() => Promise<boolean>} shouldStop
      @returns {Promise<Run["stopReason"]>} */
  async run(onProgress, shouldStop) {
    const memory = this.#memory;
    let tokens = this.#nSymbols;
    let reported = 0;
    let perCall = MIN_PER_CALL;
    this.newIndex();
    for (;;) {
      const done = this.nDone;
      for (const saved of memory.view(this.#log.saved).subarray(reported, done)) tokens -= Number(saved);
      reported = done;
      const count = done ? Number(memory.view(this.#log.counts)[done - 1]) : 0;
      onProgress({ stage: "merging", done, total: this.#wanted, tokens, count });
      if (done === this.#wanted) return "vocab-size";
      if (await shouldStop()) return "cancelled";
      const started = performance.now();
      const until = Math.min(this.#wanted, done + perCall);
      if (!this.merge(until)) return this.countPairs().counts.length ? "min-frequency" : "no-pairs";
      if (this.nDone < until) continue;
      const seconds = Math.max((performance.now() - started) / 1000, 1e-6);
      perCall = Math.floor(perCall * Math.min(2, SECONDS_A_CALL / seconds));
      perCall = Math.max(MIN_PER_CALL, Math.min(MAX_PER_CALL, perCall));
    }
  }

  /** Learn merges until there are this many, or the index must grow, which then has grown; return false if no
      pair is frequent enough.
      @param {number} until */
  merge(until) {
    const memory = this.#memory;
    const status = memory.call("merging.run_merges", {
      row: this.#row, tokens: this.#tokens, index: this.#index, rule: this.#rule, spelled: this.#spelled,
      log: this.#log, scratch: this.#scratch, until,
    });
    if (status === SMALL_INDEX) this.#makeRoomForBest();
    if (status !== BELOW_THRESHOLD) return true;
    if (this.#index.threshold <= this.#floor) return false;
    memory.free(this.#index);
    this.newIndex();
    return true;
  }

  /** Return the pairs of the index, which keep their places; some no longer occur. */
  pairs() {
    const { keys, counts, used } = this.#index;
    const [n] = this.#memory.read(used);
    const view = this.#memory.view(counts);
    const halves = new Int32Array(view.buffer, view.byteOffset, 2 * n); // the low one of each says it all
    const low = new Int32Array(n);
    for (let pair = 0; pair < n; pair++) low[pair] = halves[2 * pair];
    return { keys: this.#memory.view(keys), counts: low };
  }

  /** Return what was learned; the row becomes `joinedAt`. */
  result() {
    const memory = this.#memory;
    const n = this.nDone;
    memory.call("merging.list_ranks", { row: this.#row, tokens: this.#tokens, never: NEVER });
    const tokensAfter = new Float64Array(n + 1).fill(this.#nSymbols);
    memory.read(this.#log.saved, n).forEach((saved, i) => (tokensAfter[i + 1] = tokensAfter[i] - saved));
    return {
      merges: memory.view(this.#log.pairs).slice(0, 2 * n),
      counts: memory.read(this.#log.counts, n),
      tokensAfter,
      joinedAt: memory.view(this.#row.ids).slice(),
    };
  }

  /** Give the index room for the pairs that merging the best pair may make. */
  #makeRoomForBest() {
    const memory = this.#memory;
    const [best] = memory.view(this.#index.heap);
    const slots = 2 * Number(memory.view(this.#index.ends)[best] - memory.view(this.#index.begins)[best]);
    this.#makeRoom(Math.min(slots, 2 * (this.#firstId + this.nDone + 1)), slots);
  }

  /** Give the index room for more pairs, each with an entry in the heap, and more slots.
      @param {number} morePairs
      @param {number} moreSlots */
  #makeRoom(morePairs, moreSlots) {
    const memory = this.#memory;
    const index = this.#index;
    const [pairs, slots, entries] = memory.read(index.used);
    if (2 * (pairs + morePairs) > index.table_keys.shape[0]) {
      memory.free(index.table_keys);
      memory.free(index.table_pairs);
      Object.assign(index, this.#enterPairs(memory.part(index.keys, 0, pairs), pairs + morePairs));
    }
    for (const name of ["keys", "counts", "begins", "ends"]) index[name] = memory.longer(index[name], pairs + morePairs);
    index.places = memory.longer(index.places, 2 * (slots + moreSlots));
    for (const name of ["heap", "heap_counts", "heap_ties"]) index[name] = memory.longer(index[name], entries + morePairs);
  }

  /** @param {Numbers} keys
      @param {number} nPlaces */
  #enterPairs(keys, nPlaces) {
    const size = 2 ** Math.max(12, bitLength(4 * nPlaces));
    const table_keys = this.#memory.array("uint64", size, EMPTY);
    const table_pairs = this.#memory.array("int32", size, 0);
    this.#memory.call("pairs.enter_pairs", { keys, table_keys, table_pairs });
    return { table_keys, table_pairs };
  }

  /** Count the pairs of the row that may merge: how often each occurs in the corpus, and in the row. */
  countPairs() {
    const memory = this.#memory;
    const { CELLS } = this.#data;
    const reached = memory.copy("int64", [0, 0, this.#row.ids.shape[0], 0]);
    let table = memory.array("uint64", MIN_CELLS * CELLS, 0);
    const sketch = memory.array("uint32", 0);
    const given = { row: this.#row, tokens: this.#tokens, max_token_bytes: NO_LIMIT, sketch, least: 0, reached };
    while (!memory.call("pairs.count_row", { ...given, table })) {
      const larger = memory.array("uint64", 4 * table.shape[0], 0);
      memory.call("pairs.add_counts", { table, to: larger });
      memory.free(table);
      table = larger;
    }
    const cells = memory.view(table);
    /** @type {number[]} */
    const found = [];
    for (let at = 0; at < cells.length; at += CELLS) if (cells[at + 2] > 0n) found.push(at);
    const [counts, slots] = [1, 2].map((cell) => Float64Array.from(found, (at) => Number(cells[at + cell])));
    memory.free({ reached, sketch, table });
    return { keys: BigUint64Array.from(found, (at) => cells[at]), counts, slots };
  }

  /** Return a count that the best pair falls to only late in training; see `_first_threshold` in the app. */
  #firstThreshold() {
    const memory = this.#memory;
    const step = 1 + Math.floor(this.#row.weights.shape[0] / WORDS_SAMPLED);
    const end = this.#row.ids.shape[0];
    const counts = memory.array("int64", Math.floor(end / (3 * step)) + 1);
    const n = /** @type {number} */ (memory.call("pairs.list_counts", { row: this.#row, begin: 0, end, word: 0, step, counts }));
    const sorted = memory.read(counts, n).sort();
    memory.free(counts);
    return n ? sorted[Math.max(0, n - 1 - Math.floor(this.#wanted / (2 * step)))] : 0;
  }

  /** Recount the row and index the pairs that are frequent enough, by default for a long training.
      @param {number} [wanted] */
  newIndex(wanted) {
    const memory = this.#memory;
    const found = this.countPairs();
    const most = found.counts.reduce((best, count) => Math.max(best, count), 0);
    const share = Math.floor(most / THRESHOLD_SHARE);
    const threshold = wanted ?? Math.max(this.#floor, this.nDone ? share : Math.min(share, this.#firstThreshold()));
    const kept = Array.from(found.counts.keys()).filter((i) => found.counts[i] >= threshold);
    const n = kept.length;
    const keys = memory.copy("uint64", BigUint64Array.from(kept, (i) => found.keys[i]));
    let nWindows = 0;
    const begins = Float64Array.from(kept, (i) => (nWindows += found.slots[i]) - found.slots[i]);
    const counts = Float64Array.from(kept, (i) => found.counts[i]);
    this.#index = {
      ...this.#enterPairs(keys, n),
      keys,
      counts: memory.copy("int64", counts),
      begins: memory.copy("int64", begins),
      ends: memory.copy("int64", begins),
      places: memory.array("int32", 2 * (3 * nWindows + SPARE)),
      used: memory.copy("int64", [n, nWindows, n]),
      free: memory.array("int64", 2, 0),
      threshold,
    };
    const none = { heap: memory.array("int32", 0), heap_counts: memory.array("int64", 0), heap_ties: memory.array("uint64", 0) };
    memory.call("pairs.gather_slots", { row: this.#row, tokens: this.#tokens, index: { ...this.#index, ...none }, begin: 0, end: this.#row.ids.shape[0], word: 0 });
    memory.free(none);
    const places = memory.view(this.#index.places);
    const ties = this.#rule.first_seen
      ? BigUint64Array.from(begins, (begin) => BigInt(places[2 * begin]))
      : memory.view(keys).slice();
    // Sorted, so it is a heap.
    const order = Int32Array.from(kept.keys()).sort((one, other) => counts[other] - counts[one] || (ties[one] < ties[other] ? -1 : 1));
    this.#index.heap = memory.copy("int32", order);
    this.#index.heap_counts = memory.copy("int64", Float64Array.from(order, (i) => counts[i]));
    this.#index.heap_ties = memory.copy("uint64", BigUint64Array.from(order, (i) => ties[i]));
    this.#makeRoom(SPARE, SPARE);
  }
}

/** @param {number} n */
function bitLength(n) {
  return n ? Math.floor(Math.log2(n)) + 1 : 0;
}
