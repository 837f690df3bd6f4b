// A visitor's words for the merge player, as `own_words` in `views/packing.py` gives them to the app.

/** @import { Run } from "../../ui/components/merge_player/run.js"
    @import { Encoded } from "./engine/encoding.js" */

const MAX_WORD_LENGTH = 400; // bytes
const utf8 = new TextEncoder();
const WHOLE_TEXT = new TextDecoder("utf-8", { ignoreBOM: true });

/** Return the pre-tokens of a text that the engine has encoded.
    @param {Pick<Encoded, "text" | "lengths" | "startsWord">} encoded By a tokenizer that leaves nothing out.
    @returns {string[]} */
export function pretokensOf({ text, lengths, startsWord }) {
  const bytes = utf8.encode(text);
  /** @type {number[]} */
  const starts = [];
  lengths.reduce((at, length, i) => {
    if (startsWord[i]) starts.push(at);
    return at + length;
  }, 0);
  return starts.map((start, i) => WHOLE_TEXT.decode(bytes.subarray(start, starts[i + 1])));
}

/** Return pre-tokens, each as the ids of its bytes.
    @param {string[]} pretokens
    @param {Pick<Run, "tokens">} run A run on bytes.
    @returns {number[][]} */
export function ownWords(pretokens, run) {
  /** @type {Map<number, number>} */
  const idOfByte = new Map();
  run.tokens.forEach((token, id) => {
    const [byte, ...others] = typeof token === "string" ? utf8.encode(token) : token;
    if (byte !== undefined && !others.length && !idOfByte.has(byte)) idOfByte.set(byte, id);
  });
  return pretokens.map((pretoken) =>
    Array.from(utf8.encode(pretoken).subarray(0, MAX_WORD_LENGTH), (byte) => /** @type {number} */ (idOfByte.get(byte))));
}
