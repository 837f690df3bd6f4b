// Tokenizers as files: tokenizer.json, read as the app reads it, and written as `formats/huggingface.py` does.

import { unpack } from "../../../ui/components/shared/arrays.js";
import { joined, powerOfTwo } from "./memory.js";
import { idsOfBytes } from "./training.js";

/** @import { EngineData } from "./cutting.js"
    @import { Memory, Numbers } from "./memory.js"
    @import { Run } from "./training.js" */

/** @typedef {{ letters: Uint8Array, starts: Uint32Array }} Tokens The bytes of all tokens in one array: those of
    the token with an id are from starts[id] to before starts[id + 1], none for an id without a token. */

/** @typedef {object} Table A byte-level tokenizer.
    @property {Tokens} tokens
    @property {Int32Array} merges The left, the right and the new id of each merge, in rank order.
    @property {string} cut The name of its pre-tokenizer.
    @property {[string, number][]} special The special tokens and their ids.
    @property {[string, number][]} added Tokens that are found in a text before anything else is done with it.
    @property {boolean} wholeWordsFirst Whether a pre-token that is a token is not merged.
    @property {NormalForm | ""} normalForm What a text is changed to first. */

/** @typedef {typeof NORMAL_FORMS[number]} NormalForm */

const N_BYTES = 256;
const NORMAL_FORMS = /** @type {const} */ (["NFC", "NFD", "NFKC", "NFKD"]);
const BY_REGEX = { add_prefix_space: false, type: "ByteLevel", use_regex: true };
const ELSEWHERE = "Open it in the app.";
const utf8 = new TextEncoder();

/** The printable character that stands for each byte in a file, as in GPT-2's. */
const CHARACTERS = characterOfBytes();
const BYTES = new Map(CHARACTERS.map((character, byte) => [character, byte]));

function characterOfBytes() {
  const order = idsOfBytes(0);
  const isPrintable = (/** @type {number} */ byte) => order[byte] < 188;
  return Array.from(order, (place, byte) => String.fromCodePoint(isPrintable(byte) ? byte : 256 + place - 188));
}

/** Read a tokenizer.json of byte-level BPE. Throws an Error with a sentence for any other.
    @param {string} text
    @param {EngineData} data
    @returns {Table} */
export function readTokenizerJson(text, data) {
  const { model, pre_tokenizer, normalizer, added_tokens = [] } = JSON.parse(text);
  if ((model?.type ?? (model?.merges && "BPE")) !== "BPE") throw new Error(`Expected a BPE model, got ${model?.type}. ${ELSEWHERE}`);
  const normalForm = readNormalizer(normalizer);
  for (const option of ["byte_fallback", "dropout", "continuing_subword_prefix", "end_of_word_suffix"]) {
    if (model[option]) throw new Error(`The model sets ${option}. ${ELSEWHERE}`);
  }
  const cut = data.cuts[stepsOf(pre_tokenizer)];
  if (!cut) throw new Error(`Its pre-tokenizer is not one that the browser knows. ${ELSEWHERE}`);
  const { special, added } = readAddedTokens(added_tokens, normalForm);
  const ids = new Map(/** @type {[string, number][]} */ (Object.entries(model.vocab)));
  /** @type {(Uint8Array | undefined)[]} */
  const tokens = [];
  const apart = new Map([...special, ...added]);
  for (const [token, id] of ids) if (!apart.has(token)) tokens[id] = bytesOf(token);
  for (const [content, id] of apart) tokens[id] = utf8.encode(content);
  const listed = new Int32Array(3 * model.merges.length);
  model.merges.forEach((/** @type {string | string[]} */ pair, /** @type {number} */ rank) => {
    const [left, right] = typeof pair === "string" ? pair.split(" ") : pair;
    [left, right, left + right].forEach((token, i) => (listed[3 * rank + i] = ids.get(token) ?? -1));
  });
  const merges = idsMade(listed).size < model.merges.length && !listed.includes(-1) ? liveMerges(listed, tokens, apart) : listed;
  const table = { tokens: joinTokens(tokens), merges, cut, special, added, wholeWordsFirst: Boolean(model.ignore_merges), normalForm };
  check(table);
  return table;
}

/** Return the merges that can apply, of a list of every way in which two tokens make a third: see
    `formats/listed_merges.py`. A token is always made by the merge that joining its bytes alone ends with.
    @param {Int32Array} listed
    @param {(Uint8Array | undefined)[]} tokens By id.
    @param {Map<string, number>} apart */
function liveMerges(listed, tokens, apart) {
  const made = idsMade(listed);
  const keyOf = (/** @type {number} */ left, /** @type {number} */ right) => left * 2 ** 26 + right; // more than there are ids
  const ranks = new Map();
  for (let i = 0; i < listed.length; i += 3) ranks.set(keyOf(listed[i], listed[i + 1]), i / 3);
  const isApart = new Set(apart.values());
  const idOfByte = new Int32Array(N_BYTES).fill(-1);
  tokens.forEach((token, id) => token?.length === 1 && !made.has(id) && !isApart.has(id) && (idOfByte[token[0]] = id));
  const isLive = new Uint8Array(listed.length / 3);
  for (const id of made) {
    const ids = Array.from(tokens[id] ?? [], (byte) => idOfByte[byte]);
    for (let last = -1; ; ) {
      let [best, at] = [Infinity, -1];
      for (let i = 0; i + 1 < ids.length; i++) {
        const rank = ranks.get(keyOf(ids[i], ids[i + 1]));
        if (rank < best) [best, at] = [rank, i];
      }
      if (at < 0) {
        if (ids.length === 1 && ids[0] === id) isLive[last] = 1;
        break;
      }
      ids.splice(at, 2, listed[3 * best + 2]);
      last = best;
    }
  }
  return listed.filter((_, i) => isLive[Math.floor(i / 3)]);
}

/** Return the special tokens, which are plain text here, and those that are found in any text.
    @param {any[]} listed
    @param {Table["normalForm"]} normalForm */
function readAddedTokens(listed, normalForm) {
  /** @type {{ special: [string, number][], added: [string, number][] }} */
  const found = { special: [], added: [] };
  const first = listed.find(({ special }) => !special);
  for (const { content, id, special, single_word, lstrip, rstrip, normalized } of listed) {
    // Those of a normalized text are looked for after all others.
    const isLater = !special && (normalized ? Boolean(normalForm) || !first.normalized : first.normalized);
    if (!content || single_word || lstrip || rstrip || isLater) throw new Error(`It finds ${JSON.stringify(content)} in a way of its own. ${ELSEWHERE}`);
    found[special ? "special" : "added"].push([content, id]);
  }
  return found;
}

/** Return the normal form of Unicode that a normalizer is, "" if it changes nothing.
    @param {any} normalizer
    @returns {Table["normalForm"]} */
function readNormalizer(normalizer) {
  const [step, ...others] = normalizer?.type === "Sequence" ? normalizer.normalizers : [normalizer ?? {}];
  if (step === undefined || step.type === undefined) return "";
  const form = NORMAL_FORMS.find((name) => name === step.type);
  if (!form || others.length) throw new Error(`It has a normalizer (${normalizer.type}), which changes text first. ${ELSEWHERE}`);
  return form;
}

/** Return a function that changes a text to a normal form as `tokenizers` does: see `changing_pattern` in
    `engine_data.py`.
    @param {Table["normalForm"]} form
    @param {EngineData} data
    @returns {(text: string) => string} */
export function normalizer(form, { changing }) {
  if (!form) return (text) => text;
  const pattern = new RegExp(changing, "gu");
  return (text) => text.replace(pattern, (stretch) => stretch.normalize(form));
}

/** Read a tokenizer that `packed_tokenizer` in `engine_data.py` wrote.
    @param {Memory} memory
    @param {ArrayBuffer} packed
    @returns {Table} */
export function unpackTokenizer(memory, packed) {
  const { header, arrays } = unpack(new Uint8Array(packed));
  const { cut, special, added, normal_form, whole_words_first, first_made } = header;
  const { lengths, lefts, letters, made = Int32Array.from(lefts, (_, rank) => first_made + rank) } = arrays;
  const n_merges = lefts.length;
  const starts = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, id) => (starts[id + 1] = starts[id] + length));
  const tokens = { letters: Uint8Array.from(letters), starts };
  const isApart = new Set([...special, ...added].map(([, id]) => id));
  const ordinary = Int32Array.from(starts.keys()).filter((id) => starts[id] < starts[id + 1] && !isApart.has(id));
  const [begins, ends] = [new Float64Array(2 * n_merges), new Float64Array(2 * n_merges)];
  made.forEach((id, rank) => {
    begins[2 * rank] = starts[id];
    begins[2 * rank + 1] = ends[2 * rank] = starts[id] + lefts[rank];
    ends[2 * rank + 1] = starts[id + 1];
  });
  const parts = findWords(memory, pickTokens(tokens, ordinary), ordinary, tokens.letters, begins, ends);
  const merges = new Int32Array(3 * n_merges);
  for (let rank = 0, at = 0; rank < n_merges; rank++) {
    for (const id of [parts[2 * rank], parts[2 * rank + 1], made[rank]]) merges[at++] = id;
  }
  return { tokens, merges, cut, special, added, wholeWordsFirst: whole_words_first, normalForm: normal_form };
}

/** Return a table in which kernels look up words.
    @param {Memory} memory
    @param {Tokens} words
    @param {Int32Array} ids
    @param {Numbers} joined Marks the pairs of bytes in them. */
export function enterWords(memory, { letters, starts }, ids, joined) {
  const whole = {
    places: memory.array("int32", powerOfTwo(2 * ids.length), -1),
    keys: memory.array("uint64", 2 * ids.length),
    starts: memory.copy("int64", starts),
    letters: memory.copy("uint8", letters),
    ids: memory.copy("int32", ids),
  };
  memory.call("word_cache.enter_whole_words", { whole, joined });
  return whole;
}

/** Return the ids of words in a text; -1 for each that is not among those known.
    @param {Memory} memory
    @param {Tokens} known
    @param {Int32Array} ids
    @param {Uint8Array} text
    @param {ArrayLike<number>} starts
    @param {ArrayLike<number>} stops */
function findWords(memory, known, ids, text, starts, stops) {
  const marks = memory.array("uint8", 1 << 16);
  const given = {
    whole: enterWords(memory, known, ids, marks),
    ...{ text: memory.copy("uint8", text), starts: memory.copy("int64", starts), stops: memory.copy("int64", stops) },
    found: memory.array("int32", starts.length),
  };
  memory.call("word_cache.find_words", given);
  const found = memory.view(given.found).slice();
  memory.free({ ...given, marks });
  return found;
}

/** Return some of the tokens, in this order.
    @param {Tokens} tokens
    @param {Int32Array} ids
    @returns {Tokens} */
export function pickTokens({ letters, starts }, ids) {
  const picked = new Uint32Array(ids.length + 1);
  ids.forEach((id, i) => (picked[i + 1] = picked[i] + starts[id + 1] - starts[id]));
  const bytes = new Uint8Array(picked[ids.length]);
  ids.forEach((id, i) => {
    for (let from = starts[id], to = picked[i]; to < picked[i + 1]; ) bytes[to++] = letters[from++];
  });
  return { letters: bytes, starts: picked };
}

/** Return tokens as one array.
    @param {(Uint8Array | undefined)[]} tokens By id.
    @returns {Tokens} */
export function joinTokens(tokens) {
  const starts = new Uint32Array(tokens.length + 1);
  for (let id = 0; id < tokens.length; id++) starts[id + 1] = starts[id] + (tokens[id]?.length ?? 0);
  return { letters: joined([new Uint8Array(), ...tokens.filter((token) => token !== undefined)]), starts };
}

/** Return the bytes of a token.
    @param {Tokens} tokens
    @param {number} id */
export function tokenAt({ letters, starts }, id) {
  return letters.subarray(starts[id], starts[id + 1]);
}

/** Throw an Error for what the kernels do not run exactly.
    @param {Table} table */
function check({ tokens, merges, special, added, wholeWordsFirst }) {
  if (merges.includes(-1)) throw new Error(`A merge has a token that is not in the vocabulary. ${ELSEWHERE}`);
  const isSpecial = new Set([...special, ...added].map(([, id]) => id));
  const made = idsMade(merges);
  const width = (/** @type {number} */ id) => tokens.starts[id + 1] - tokens.starts[id];
  const ordinary = Array.from({ length: tokens.starts.length - 1 }, (_, id) => id).filter((id) => width(id) && !isSpecial.has(id));
  const known = new Set(ordinary.filter((id) => width(id) === 1 && !made.has(id)));
  if (new Set(Array.from(known, (id) => tokenAt(tokens, id)[0])).size < N_BYTES) throw new Error(`Its alphabet lacks some of the 256 bytes. ${ELSEWHERE}`);
  for (let i = 0; i < merges.length; i += 3) {
    const [left, right] = merges.subarray(i, i + 2);
    if (!(known.has(left) || made.has(left)) || !(known.has(right) || made.has(right))) throw new Error(`Merge ${i / 3} has a part that nothing makes. ${ELSEWHERE}`);
  }
  // Only then a token that no merge makes is looked up by its bytes.
  if (wholeWordsFirst && new Set(ordinary.map((id) => String(tokenAt(tokens, id)))).size < ordinary.length) {
    throw new Error(`Several ids have the same bytes. ${ELSEWHERE}`);
  }
}

/** Return the ids that merges make.
    @param {Int32Array} merges */
function idsMade(merges) {
  const made = new Set();
  for (let i = 2; i < merges.length; i += 3) made.add(merges[i]);
  return made;
}

/** Return the steps of a pre-tokenizer as `EngineData.cuts` names them.
    @param {any} part */
function stepsOf(part) {
  const steps = part?.type === "Sequence" ? [...part.pretokenizers] : part ? [part] : [];
  const last = steps.at(-1);
  if (last?.type !== "ByteLevel" || last.add_prefix_space) return "";
  steps.pop();
  if (last.use_regex ?? true) steps.push(BY_REGEX);
  return JSON.stringify(steps.map((step) => sorted({ ...step, trim_offsets: undefined })));
}

/** Return a value with the names of all objects in order.
    @param {any} value
    @returns {any} */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!value || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
}

/** @param {string} printable */
function bytesOf(printable) {
  const bytes = new Uint8Array(printable.length);
  for (let i = 0; i < printable.length; i++) {
    const byte = BYTES.get(printable[i]);
    // A token that no merge makes may be plain text, as `tokenizers` decodes it.
    if (byte === undefined) return utf8.encode(printable);
    bytes[i] = byte;
  }
  return bytes;
}

/** Return the table of a tokenizer that was trained here.
    @param {Run} run
    @returns {Table} */
export function tableOfRun({ config, merges, firstId }) {
  /** @type {Uint8Array[]} */
  const tokens = config.specialTokens.map((token) => utf8.encode(token));
  idsOfBytes(tokens.length).forEach((id, byte) => (tokens[id] = Uint8Array.of(byte)));
  const triples = new Int32Array((merges.length / 2) * 3);
  for (let rank = 0; rank < merges.length / 2; rank++) {
    const [left, right] = merges.subarray(2 * rank, 2 * rank + 2);
    triples.set([left, right, firstId + rank], 3 * rank);
    const token = new Uint8Array(tokens[left].length + tokens[right].length);
    token.set(tokens[left]);
    token.set(tokens[right], tokens[left].length);
    tokens.push(token);
  }
  const special = config.specialTokens.map((token, id) => /** @type {[string, number]} */ ([token, id]));
  return { tokens: joinTokens(tokens), merges: triples, cut: config.cut, special, added: [], wholeWordsFirst: false, normalForm: "" };
}

/** Return the tokenizer.json of a tokenizer that was trained here, as the app writes it.
    @param {Run} run
    @param {EngineData} data */
export function writeTokenizerJson(run, data) {
  const { config } = run;
  const { tokens, merges, special } = tableOfRun(run);
  const printable = (/** @type {number} */ id) => Array.from(tokenAt(tokens, id), (byte) => CHARACTERS[byte]).join("");
  const texts = Array.from({ length: tokens.starts.length - 1 }, (_, id) => special[id]?.[0] ?? printable(id));
  const twice = texts.find((text, id) => id >= special.length && config.specialTokens.includes(text));
  if (twice) throw new Error(`A special token and a token that was learned would both be written ${twice}. Train with other special tokens.`);
  const listed = Array.from({ length: merges.length / 3 }, (_, rank) => [texts[merges[3 * rank]], texts[merges[3 * rank + 1]]]);
  const { file } = data;
  return dumped({
    ...file,
    added_tokens: special.map(([content, id]) => ({ ...file.added_tokens[0], id, content })),
    pre_tokenizer: data.scanners[config.cut].pre_tokenizer,
    model: { ...file.model, vocab: new Map(texts.map((text, id) => [text, id])), merges: listed },
  });
}

/** Return JSON with the spaces that Python's writer puts after commas and colons.
    @param {any} value A Map keeps the order of its names, even of those that are numbers.
    @returns {string} */
export function dumped(value) {
  if (Array.isArray(value)) return `[${value.map(dumped).join(", ")}]`;
  if (!value || typeof value !== "object") return JSON.stringify(value);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const listed = entries.map(([name, each]) => `${JSON.stringify(name)}: ${dumped(each)}`);
  return `{${listed.join(", ")}}`;
}
