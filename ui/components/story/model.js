// What a model sees: the ids of a text's tokens, the letters of a word, the digits of a sum, and prices.

import { spokenToken } from "../shared/characters.js";
import { counted } from "../shared/numbers.js";

/** @import { Token } from "../shared/component.js"
    @import { Reading } from "./reading.js" */

/** @typedef {{ name: string, lang: string, text: string, "GPT-2": number, "GPT-4o": number }} Price */

export const MAX_TOKENS = 40; // that are shown of a sentence
/** @type {("GPT-2" | "GPT-4o")[]} */
export const MODELS = ["GPT-2", "GPT-4o"];
const LETTER = "r";
const WORD = "strawberry";

/** "space shells: 84266"
    @param {Token} token
    @param {number} id */
export function spokenId(token, id) {
  return `${spokenToken(token)}: ${id}`;
}

/** Return the letters of the word, which of them are asked for, and the ids that a model is given of it.
    @param {Reading} reading Of the question. */
export function lettersAsked({ ids, tokens }) {
  const given = ids.filter((_, i) => String(tokens[i]).trim() === WORD);
  return { letters: [...WORD].map((letter) => ({ letter, isAsked: letter === LETTER })), given };
}

/** Return the sum as it is written below one another: each number's tokens with their ids.
    @param {Reading} reading
    @returns {{ sign: string, parts: { digits: string, id: number }[] }[]} */
export function sumRows({ ids, tokens }) {
  const rows = [{ sign: "", parts: /** @type {{ digits: string, id: number }[]} */ ([]) }];
  tokens.forEach((token, i) => {
    const text = String(token).trim();
    if (/^\d+$/.test(text)) /** @type {typeof rows[0]} */ (rows.at(-1)).parts.push({ digits: text, id: ids[i] });
    else if (text) rows.push({ sign: text, parts: [] });
  });
  return rows;
}

/** "One coin, one token: 4.8 times English in GPT-2, 1.1 in GPT-4o."
    @param {Price[]} prices */
export function priceSentence([one, other]) {
  const [before, now] = MODELS.map((model) => (other[model] / one[model]).toFixed(1));
  return `One coin, one token: ${before} times English in GPT-2, ${now} in GPT-4o.`;
}

/** @param {number} left Tokens that are not shown. */
export function moreTokens(left) {
  return left > 0 ? `and ${counted(left, "token")} more` : "";
}
