// Encode with a tokenizer's tables and the kernels: what `kernels/encoder_tables.py` and
// `tokenizer/compiled.py` do for the app.

import { halfCharacter } from "../../../ui/components/shared/characters.js";
import { joined, powerOfTwo } from "./memory.js";
import { enterWords, normalizer, pickTokens, tokenAt } from "./tokenizer_file.js";

/** @import { Memory, Numbers } from "./memory.js"
    @import { Table } from "./tokenizer_file.js"
    @import { Cut, EngineData } from "./cutting.js" */

/** @typedef {object} Encoded
    @property {string} text What the tokens are of: the text that was given, in the tokenizer's normal form.
    @property {Int32Array} ids -1 for text that the cut leaves out, such as white space.
    @property {Uint32Array} lengths The bytes of UTF-8 of each token.
    @property {Uint8Array} startsWord 1 for each token that starts a pre-token. */

const BLOCK = 1 << 19; // bytes encoded at once
const SCAN_AHEAD = 8192;
const BATCH = 256;
const NEIGHBOURS = 1 << 12;
const CACHE_ROWS = 1 << 14;
const TOKENS_PER_ROW = 2;
const ARENA_PER_ROW = 8;
const LETTERS_PER_ROW = 32;
const MERGES_PER_PAIR_ROW = 5;
const MAX_TRIE_LETTERS = 1 << 23;
const MAX_KEPT_SCRATCH = 1 << 20;
const FREE = -1; // all bits set
const PRE_TOKEN = 1;
const LEFT_OUT = 2;
const DONE = 0;
const CACHE_CROWDED = 2;

export class Encoder {
  #memory;
  #data;
  #cut;
  #normalize;
  #added;
  /** What divides a text at added tokens; undefined if there are none. */
  #divider;
  /** @type {Record<string, any>} */
  #tables;
  /** @type {Record<string, Numbers>} */
  #cache;
  /** @type {Record<string, Numbers>} */
  #scratch;
  /** @type {Record<string, Numbers>} */
  #fresh;
  #tokens;

  /** @param {Memory} memory All of which is this encoder's.
      @param {EngineData} data
      @param {Cut} cut
      @param {Table} table */
  constructor(memory, data, cut, table) {
    this.#memory = memory;
    this.#data = data;
    this.#cut = cut;
    this.#normalize = normalizer(table.normalForm, data);
    this.#added = new Map(table.added);
    const longestFirst = [...this.#added.keys()].sort((one, other) => other.length - one.length);
    const escaped = longestFirst.map((token) => token.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
    this.#divider = escaped.length ? new RegExp(`(${escaped.join("|")})`, "u") : undefined;
    this.#tokens = table.tokens;
    const { tables, cache } = buildTables(memory, data, table);
    this.#tables = tables;
    this.#cache = cache;
    this.#scratch = makeScratch(memory, data, SCAN_AHEAD, !tables.trie.symbol_at.shape[0]);
    this.#fresh = {
      numbers: memory.array("int64", BATCH),
      open: memory.array("uint64", BATCH),
      symbols: memory.array("int32", data.ROOM * BATCH),
      pairs: memory.array("uint32", data.ROOM * BATCH),
      begins: memory.array("uint64", BATCH),
      merged: memory.array("uint64", BATCH),
    };
  }

  /** Return the ids of a text; text that spells a special token is ordinary text.
      @param {string} text Throws an Error if it has half a character (a lone surrogate). */
  encode(text) {
    return joined(this.#parts(text).map(({ text, id }) => (id === undefined ? this.#inBlocks(text, () => {}) : Int32Array.of(id))));
  }

  /** Return the ids of a text, as `encode` does, and where its tokens are.
      @param {string} given
      @returns {Encoded} */
  place(given) {
    const parts = this.#parts(given).map(({ text, id }) => ({ text, ...(id === undefined ? this.#placePart(text) : this.#placeAdded(id)) }));
    const of = (/** @type {"ids" | "lengths" | "startsWord"} */ name) => joined(parts.map((part) => part[name]));
    const text = parts.map((part) => part.text).join("");
    return /** @type {Encoded} */ ({ text, ids: of("ids"), lengths: of("lengths"), startsWord: of("startsWord") });
  }

  /** Return the parts of a text: added tokens with their ids, and between them what is cut.
      @param {string} text
      @returns {{ text: string, id?: number }[]} */
  #parts(text) {
    if (!text.isWellFormed()) throw new Error(`${halfCharacter(text)}, which UTF-8 cannot encode.`);
    const parts = text.split(/** @type {RegExp} */ (this.#divider));
    return parts.map((part, i) => (i % 2 ? { text: part, id: this.#added.get(part) } : { text: this.#normalize(part) }));
  }

  /** @param {number} id
      @returns {Omit<Encoded, "text">} */
  #placeAdded(id) {
    return { ids: Int32Array.of(id), lengths: Uint32Array.of(tokenAt(this.#tokens, id).length), startsWord: Uint8Array.of(1) };
  }

  /** @param {string} text
      @returns {Omit<Encoded, "text">} */
  #placePart(text) {
    let starts = new Uint8Array(1);
    let nLeftOut = 0;
    const ids = this.#inBlocks(text, (inMemory, begin, end) => {
      if (!begin) starts = new Uint8Array(inMemory.shape[0] + 1);
      nLeftOut += this.#findStarts(inMemory, begin, end, starts);
    });
    return this.#placed(ids, starts, nLeftOut);
  }

  /** Encode a text block by block; return its ids.
      @param {string} text
      @param {(text: Numbers, begin: number, end: number) => void} look Called after each block. */
  #inBlocks(text, look) {
    const memory = this.#memory;
    const inMemory = memory.copyText(text);
    const [nBytes] = inMemory.shape;
    /** @type {Int32Array[]} */
    const parts = [];
    for (let begin = 0; begin < nBytes; ) {
      const end = nBytes - begin > 2 * BLOCK ? this.#cut.safeSplit(inMemory, begin + BLOCK) : nBytes;
      parts.push(this.#encodeBlock(inMemory, begin, end));
      look(inMemory, begin, end);
      begin = end;
    }
    this.#tidy();
    memory.free(inMemory);
    return joined(parts.length ? parts : [new Int32Array()]);
  }

  /** @param {Numbers} text
      @param {number} begin
      @param {number} end
      @returns {Int32Array} */
  #encodeBlock(text, begin, end) {
    const memory = this.#memory;
    const out = memory.array("int32", end - begin + this.#data.SLACK);
    const sections = {
      text,
      bounds: memory.copy("int64", [begin, end]),
      given: memory.array("int64", 0),
      section_ends: memory.array("int64", 1),
      reached: memory.copy("int64", [0, begin, 0, 0]),
    };
    for (;;) {
      const status = memory.call("encoding.encode_text", {
        ...this.#tables, ...sections, scanner: this.#cut.scanner, cache: this.#cache, out,
        scratch: this.#scratch, new: this.#fresh,
      });
      if (status === DONE) break;
      if (status === CACHE_CROWDED) this.#cache = this.#largerCache(2 * this.#nRows());
      else this.#growScratch();
    }
    const ids = memory.view(out).slice(0, memory.read(sections.section_ends)[0]);
    for (const each of [out, sections.bounds, sections.given, sections.section_ends, sections.reached]) memory.free(each);
    return ids;
  }

  /** Mark where the pieces of a part of a text begin; return how many of them the cut leaves out.
      @param {Numbers} text
      @param {number} begin
      @param {number} end
      @param {Uint8Array} starts */
  #findStarts(text, begin, end, starts) {
    const memory = this.#memory;
    const given = {
      scanner: this.#cut.scanner,
      text,
      bounds: memory.copy("int64", [begin, end]),
      found: memory.array("int64", end - begin),
      reached: memory.copy("int64", [0, begin, 0]),
    };
    while (memory.call("encoding.find_ends", { ...given, scratch: this.#scratch })) this.#growScratch();
    const [, , n] = memory.read(given.reached);
    const found = memory.view(given.found);
    const halves = new Int32Array(found.buffer, found.byteOffset, 2 * n); // the low one of each says it all
    let nLeftOut = 0;
    for (let i = 0, start = begin; i < 2 * n; i += 2) {
      starts[start] = halves[i] < 0 ? LEFT_OUT : PRE_TOKEN;
      nLeftOut += Number(halves[i] < 0);
      start = Math.abs(halves[i]);
    }
    for (const each of [given.bounds, given.found, given.reached]) memory.free(each);
    return nLeftOut;
  }

  /** Return where tokens are in a text.
      @param {Int32Array} ids
      @param {Uint8Array} starts See `#findStarts`.
      @param {number} nLeftOut
      @returns {Omit<Encoded, "text">} */
  #placed(ids, starts, nLeftOut) {
    const n = ids.length + nLeftOut;
    const placed = nLeftOut ? new Int32Array(n) : ids;
    const lengths = new Uint32Array(n);
    const startsWord = new Uint8Array(n);
    const tokenStarts = this.#tokens.starts; // a local, because this is most of what a tab does besides the kernels
    let taken = 0;
    for (let i = 0, begin = 0; i < n; i++) {
      let end = begin + 1;
      if (starts[begin] === LEFT_OUT) {
        placed[i] = -1;
        while (end < starts.length - 1 && !starts[end]) end += 1;
      } else {
        const id = ids[taken++];
        startsWord[i] = starts[begin];
        placed[i] = id;
        end = begin + tokenStarts[id + 1] - tokenStarts[id];
      }
      lengths[i] = end - begin;
      begin = end;
    }
    return { ids: placed, lengths, startsWord };
  }

  #nRows() {
    return this.#cache.others.shape[0] / this.#data.WORD_ROW;
  }

  /** @param {number} nRows */
  #largerCache(nRows) {
    const larger = emptyCache(this.#memory, this.#data, nRows);
    this.#memory.call("word_cache.copy_words", { cache: this.#cache, larger });
    this.#memory.free(this.#cache);
    return larger;
  }

  #growScratch() {
    const size = 2 * this.#scratch.ends.shape[0];
    this.#memory.free(this.#scratch);
    this.#scratch = makeScratch(this.#memory, this.#data, size, this.#scratch.heap.shape[0] > 0);
  }

  /** Free the buffers of a very long word, and replace a word cache whose lists are full. */
  #tidy() {
    const { LONG_WORD, SLACK, MAX_ROWS } = this.#data;
    const { arena, letters, used } = this.#cache;
    const [ids, , bytes] = this.#memory.read(used);
    if (ids > arena.shape[0] - (1 + LONG_WORD) - SLACK || bytes > letters.shape[0] - LONG_WORD) {
      const nRows = this.#nRows();
      if (nRows < MAX_ROWS) {
        this.#cache = this.#largerCache(2 * nRows);
      } else {
        this.#memory.free(this.#cache);
        this.#cache = emptyCache(this.#memory, this.#data, nRows);
      }
    }
    if (this.#scratch.ends.shape[0] > MAX_KEPT_SCRATCH) {
      const hasHeap = this.#scratch.heap.shape[0] > 0;
      this.#memory.free(this.#scratch);
      this.#scratch = makeScratch(this.#memory, this.#data, SCAN_AHEAD, hasHeap);
    }
  }
}

/** Build the tables that `encode_text` reads, and a word cache that holds the vocabulary.
    @param {Memory} memory
    @param {EngineData} data
    @param {Table} table */
function buildTables(memory, data, { tokens, merges, wholeWordsFirst, special, added }) {
  const nMerges = merges.length / 3;
  const nSymbols = 256 + nMerges;
  const nIds = tokens.starts.length - 1;
  const width = (/** @type {number} */ id) => tokens.starts[id + 1] - tokens.starts[id];
  const byId = new Int32Array(nIds).fill(-1);
  const ids = new Int32Array(nSymbols);
  for (let rank = nMerges - 1; rank >= 0; rank--) {
    ids[256 + rank] = merges[3 * rank + 2];
    byId[merges[3 * rank + 2]] = 256 + rank; // If several merges make a token, its symbol is the first's.
  }
  const specialIds = new Set([...special, ...added].map(([, id]) => id));
  for (let id = 0; id < nIds; id++) {
    if (width(id) !== 1 || byId[id] >= 0 || specialIds.has(id)) continue;
    const [byte] = tokenAt(tokens, id);
    ids[byte] = id;
    byId[id] = byte;
  }
  const [lefts, rights, makes] = [0, 1, 2].map((column) => new Int32Array(nMerges).map((_, rank) => byId[merges[3 * rank + column]]));
  const eachItsOwn = makes.every((symbol, rank) => symbol === 256 + rank);
  const inOrder = makes.every((symbol, rank) => Math.max(lefts[rank], rights[rank]) < symbol);
  const { letters, starts } = pickTokens(tokens, ids);
  const widths = ids.map(width);
  const longest = widths.reduce((most, width) => Math.max(most, width), 0);
  const given = {
    lefts: memory.copy("int32", lefts),
    rights: memory.copy("int32", rights),
    starts: memory.copy("int64", starts),
    letters: memory.copy("uint8", letters),
    out: memory.array("int32", Math.max(data.SCAN_UP_TO, longest)),
    scratch: makeScratch(memory, data, Math.max(longest, 1), true),
    occurs: memory.array("uint8", nSymbols, 0),
  };
  const mergeTable = {
    pairs: memory.array("uint64", powerOfTwo(Math.floor((data.PAIR_ROW * nMerges) / MERGES_PER_PAIR_ROW)), FREE),
    byte_ranks: memory.array("int32", 1 << 16),
    joined: memory.array("uint8", 1 << 16, 0),
    made: memory.copy("int32", eachItsOwn ? [] : makes),
    ids: memory.copy("int32", ids),
  };
  const withTrie = eachItsOwn && inOrder && letters.length <= MAX_TRIE_LETTERS;
  const own = Int32Array.from({ length: 256 }, (_, byte) => byte);
  const nRows = Math.min(data.MAX_ROWS, Math.max(CACHE_ROWS, powerOfTwo(Math.floor(nSymbols / TOKENS_PER_ROW))));
  for (let room = withTrie ? powerOfTwo(4 * nSymbols) : 0; ; room *= 2) {
    const trie = {
      second: memory.array("int32", 1 << 16, -1),
      edges: memory.array("uint64", Math.max(room, 1), FREE),
      symbol_at: memory.array("int32", room / 2, -1),
      left: memory.copy("int32", joined([own, lefts])),
      right: memory.copy("int32", joined([own, rights])),
      width: memory.copy("int32", widths),
      shorter: memory.array("int32", nSymbols, -1),
    };
    if (withTrie) memory.view(trie.symbol_at).set(own);
    const cache = emptyCache(memory, data, nRows);
    const built = /** @type {number} */ (memory.call("encoding.build_tables", { ...given, merges: mergeTable, trie, cache }));
    if (built < 0) {
      memory.free(trie);
      memory.free(cache);
      continue;
    }
    const occurs = memory.view(given.occurs);
    const isKnown = new Uint8Array(nIds);
    for (const id of specialIds) isKnown[id] = 1;
    ids.forEach((id, symbol) => (isKnown[id] |= occurs[symbol]));
    const lookedUp = new Int32Array(wholeWordsFirst ? nIds : 0).map((_, id) => id).filter((id) => width(id) && !isKnown[id]);
    const whole = enterWords(memory, pickTokens(tokens, lookedUp), lookedUp, mergeTable.joined);
    memory.free(given);
    return { tables: { merges: mergeTable, whole, trie, added: noAdded(memory, data) }, cache };
  }
}

/** Return the tables of tokens that are found anywhere in a text: there are none.
    @param {Memory} memory
    @param {EngineData} data */
function noAdded(memory, { FIRST_SYMBOL }) {
  return {
    ranges: memory.array("uint8", 0),
    second: memory.array("int32", 0),
    edges: memory.array("uint64", 1, FREE),
    symbol_at: memory.array("int32", FIRST_SYMBOL, -1),
    width: memory.array("int32", FIRST_SYMBOL, 1),
  };
}

/** @param {Memory} memory
    @param {EngineData} data
    @param {number} nRows */
function emptyCache(memory, { NARROW_ROW, WORD_ROW }, nRows) {
  return {
    narrow: memory.array("uint64", NARROW_ROW * nRows, 0),
    others: memory.array("uint64", WORD_ROW * nRows, 0),
    arena: memory.array("int32", ARENA_PER_ROW * nRows),
    letters: memory.array("uint8", LETTERS_PER_ROW * nRows),
    used: memory.array("int64", 3, 0),
  };
}

/** Return buffers for words of up to `size` bytes, with or without a heap.
    @param {Memory} memory
    @param {EngineData} data
    @param {number} size
    @param {boolean} hasHeap */
function makeScratch(memory, { SCAN_UP_TO }, size, hasHeap) {
  return {
    ends: memory.array("int64", size),
    pieces: memory.array("int64", size),
    low: memory.array("uint64", BATCH),
    high: memory.array("uint64", BATCH),
    places: memory.array("uint64", BATCH),
    first: memory.array("uint64", BATCH),
    last: memory.array("uint64", BATCH, 0),
    symbols: memory.array("int32", SCAN_UP_TO),
    ranks: memory.array("int32", SCAN_UP_TO),
    dead: memory.array("uint8", size + 1),
    neighbours: memory.array("uint64", NEIGHBOURS, FREE),
    heap: memory.array("uint64", hasHeap ? 3 * size : 0),
    links: memory.array("int64", hasHeap ? 2 * size : 0),
  };
}
