// Token boundaries: a text typed here, encoded here.

import mountLiveText from "../../ui/components/live_text/live_text.js";
import mountView from "../../ui/components/token_view/view.js";
import { find } from "../../ui/components/shared/elements.js";
import { grouped } from "../../ui/components/shared/numbers.js";
import { encode } from "./encode.js";
import { withQuery } from "./links.js";
import { packTokens } from "./pack_tokens.js";
import { startFrame } from "./page_frame.js";
import { draw } from "./stage.js";
import { loadData } from "./stored_data.js";
import { readVocabulary } from "./vocabulary.js";

/** @import { Vocabulary } from "./vocabulary.js" */

/** @typedef {{ id: string, name: string, code: string }} Choice */

/** @type {{ text: string, max_length: number, max_in_address: number, choices: Choice[] }} */
const given = JSON.parse(find(document, "#given", HTMLElement).textContent ?? "");
const field = find(document, "[data-component='bpe.live_text']", HTMLElement);
const view = find(document, "[data-component='bpe.token_view']", HTMLElement);
const note = find(document, "#note", HTMLElement);
const radios = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=tokenizer]"));
const query = new URLSearchParams(window.location.search);

/** @type {Map<string, Promise<Vocabulary>>} */
const vocabularies = new Map();
let chosen = given.choices.find(({ id }) => id === query.get("tokenizer")) ?? given.choices[0];
let text = "";

/** Read a text, and draw it in the field and as tokens.
    @param {string} typed */
function take(typed) {
  text = firstCharacters(typed.toWellFormed(), given.max_length);
  note.textContent = text.length < typed.length
    ? `Only the first ${grouped(text.length)} of ${grouped(typed.length)} characters are read here. The app reads 8 million.`
    : "";
  const limits = { pasted: given.max_length, edited: 2 * given.max_length, bytes: 20e6, sent: 2 * given.max_length };
  const data = { text: typed, label: "Your text", lines: 4, excerpt_note: "", opened: null, limits };
  draw(field, mountLiveText, data, (name, value) => {
    if (name === "typed") take(String(value));
    if (name === "pasted") take(/** @type {{ text: string }} */ (value).text);
  });
  show().catch(tell);
}

/** Return the beginning of a text, without half a character.
    @param {string} whole
    @param {number} most UTF-16 units. */
function firstCharacters(whole, most) {
  return whole.slice(0, most).replace(/[\ud800-\udbff]$/, "");
}

/** Draw the text's tokens, once the tokenizer has been loaded, and note both in the address. */
async function show() {
  const { id, name, code } = chosen;
  const loaded = vocabularies.get(id) ?? loadData(id).then(([message]) => readVocabulary(message));
  vocabularies.set(id, loaded);
  view.setAttribute("aria-busy", "true");
  const vocabulary = await loaded;
  // Meanwhile another tokenizer may have been chosen.
  if (id !== chosen.id) return;
  view.removeAttribute("aria-busy");
  draw(view, mountView, {
    text,
    packed: packTokens(text, vocabulary),
    ...{ stamp: "", chosen: findLongest(text, vocabulary), name, special_note: "", code: [code], code_options: "" },
    ...{ border_terms: [], mark_terms: [] },
  });
  const address = withQuery(window.location.href, {
    text: text.length <= given.max_in_address && text !== given.text ? text : null,
    tokenizer: id === given.choices[0].id ? null : id,
  });
  window.history.replaceState(window.history.state, "", address);
}

/** Return the longest token near the start, whose details are shown first; null if there is none.
    @param {string} whole
    @param {Vocabulary} vocabulary */
function findLongest(whole, vocabulary) {
  const lengths = encode(firstCharacters(whole, 400), vocabulary).map((id) => vocabulary.tokens[id].length);
  return lengths.length ? lengths.indexOf(Math.max(...lengths)) : null;
}

/** @param {Error} error */
function tell(error) {
  view.removeAttribute("aria-busy");
  note.textContent = error.message;
}

for (const radio of radios) {
  radio.checked = radio.value === chosen.id;
  radio.addEventListener("change", () => {
    chosen = given.choices.find(({ id }) => id === radio.value) ?? chosen;
    show().catch(tell);
  });
}
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#examples button"))) {
  button.addEventListener("click", () => take(button.dataset.text ?? ""));
}
take(query.get("text") ?? given.text);
startFrame(() => ["token_boundaries", { text, ...(chosen.id === "gpt2" ? { tokenizer: "GPT-2" } : {}) }]);
