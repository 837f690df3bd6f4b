// What the buttons copy: ids, tokens, and Python code that reproduces them.

/** @import { Tokens } from "./reading.js" */

const MAX_TEXT_LENGTH_IN_CODE = 10000;
const MAX_IDS_IN_CODE = 2000;
const ESCAPES = new Map([["\\", "\\\\"], ['"', '\\"'], ["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]]);

/** @param {Pick<Tokens, "ids">} tokens
    @returns {number[]} */
export function knownIds(tokens) {
  return [...tokens.ids].filter((id) => id >= 0);
}

/** Return each token as text, or as byte values where its bytes are not UTF-8.
    @param {Pick<Tokens, "ids" | "about">} tokens */
export function tokenList(tokens) {
  return knownIds(tokens).map((id) => tokens.about.get(id)?.token);
}

/** @param {{ text: string, code: string[], code_options: string }} data The lines of `code` make
      `tokenizer`.
    @param {Pick<Tokens, "ids">} tokens */
export function pythonCode({ text, code, code_options: options }, tokens) {
  const ids = knownIds(tokens);
  const whole = text.length <= MAX_TEXT_LENGTH_IN_CODE;
  const lines = [
    "import bpe_core as bpe",
    "",
    ...code,
    whole
      ? `text = ${pythonLiteral(text)}`
      : 'text = open("text.txt", encoding="utf-8", newline="").read()  # the text shown',
    `ids = tokenizer.encode(text${options})`,
  ];
  if (ids.length <= MAX_IDS_IN_CODE) lines.push(`assert ids == ${JSON.stringify(ids).replaceAll(",", ", ")}`);
  return lines.join("\n") + "\n";
}

/** Return a text as a Python string literal in ASCII.
    @param {string} text */
export function pythonLiteral(text) {
  let literal = "";
  for (const character of text) {
    const code = /** @type {number} */ (character.codePointAt(0));
    const escape = ESCAPES.get(character);
    if (escape) literal += escape;
    else if (code >= 0x20 && code < 0x7f) literal += character;
    else if (code < 0x100) literal += "\\x" + code.toString(16).padStart(2, "0");
    else if (code < 0x10000) literal += "\\u" + code.toString(16).padStart(4, "0");
    else literal += "\\U" + code.toString(16).padStart(8, "0");
  }
  return `"${literal}"`;
}
