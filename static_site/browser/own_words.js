// A visitor's words for the merge player, as `own_words` in `views/packing.py` gives them to the app.

/** @import { Run } from "../../ui/components/merge_player/run.js"
    @import { Encoded } from "./engine/encoding.js" */

const MAX_WORD_LENGTH = 400; // bytes
const utf8 = new TextEncoder();

/** Return the pre-tokens of a text that the engine has encoded.
    @param {string} text
    @param {Pick<Encoded, "ends" | "startsWord">} encoded By a tokenizer that leaves nothing out.
    @returns {string[]} */
export function pretokensOf(text, { ends, startsWord }) {
  const starts = [...startsWord.keys()].filter((i) => startsWord[i]).map((i) => (i ? ends[i - 1] : 0));
  return starts.map((start, i) => text.slice(start, starts[i + 1]));
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
