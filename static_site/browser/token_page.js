// Token boundaries: a text typed here, encoded here.

import mountLiveText from "../../ui/components/live_text/live_text.js";
import mountView from "../../ui/components/token_view/view.js";
import { find } from "../../ui/components/shared/elements.js";
import { grouped } from "../../ui/components/shared/numbers.js";
import { encodePretokens } from "./encode.js";
import { withQuery } from "./links.js";
import { findLongestWord, packTokens } from "./pack_tokens.js";
import { startFrame } from "./page_frame.js";
import { draw, nextTask } from "./stage.js";
import { loadData } from "./stored_data.js";
import { readVocabulary } from "./vocabulary.js";

/** @import { Vocabulary } from "./vocabulary.js" */

/** @typedef {{ id: string, name: string, code: string }} Choice */

/** @type {{ text: string, max_length: number, max_in_address: number, choices: Choice[] }} */
const given = JSON.parse(find(document, "#given", HTMLElement).textContent ?? "");
const field = find(document, "[data-component='bpe.live_text']", HTMLElement);
const view = find(document, "[data-component='bpe.token_view']", HTMLElement);
const note = find(document, "#note", HTMLElement);
const problem = find(document, "#problem", HTMLElement);
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
  note.textContent = listNotes(typed.length).join(" ");
  const limits = { pasted: given.max_length, edited: 2 * given.max_length, bytes: 20e6, sent: 2 * given.max_length };
  const data = { text: typed, label: "Your text", lines: 4, excerpt_note: "", opened: null, limits };
  draw(field, mountLiveText, data, (name, value) => {
    if (name === "typed") take(String(value));
    if (name === "pasted") take(/** @type {{ text: string }} */ (value).text);
  });
  show().catch(tell);
}

/** Say what of a text of this length is not read, and not in the address.
    @param {number} length */
function listNotes(length) {
  const notes = [];
  if (text.length < length) {
    notes.push(`Only the first ${grouped(text.length)} of ${grouped(length)} characters are read here. The app reads 8 million.`);
  }
  if (!isInAddress()) notes.push("The text is too long for the address, so a link to this page does not hold it.");
  return notes;
}

function isInAddress() {
  return text.length <= given.max_in_address;
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
  problem.textContent = "";
  const vocabulary = await loaded.catch((error) => {
    vocabularies.delete(id); // The next choice tries again.
    if (id === chosen.id) throw error;
  });
  await nextTask();
  // Meanwhile another tokenizer may have been chosen.
  if (id !== chosen.id || !vocabulary) return;
  view.removeAttribute("aria-busy");
  const spellsSpecial = vocabulary.special.some((token) => text.includes(token));
  const special_note = spellsSpecial ? "Special tokens are read as plain text." : "";
  const pretokens = encodePretokens(text, vocabulary);
  draw(view, mountView, {
    text,
    packed: packTokens(pretokens, vocabulary),
    ...{ stamp: "", chosen: findLongestWord(pretokens.flat(), vocabulary), name, special_note, code: [code], code_options: "" },
    ...{ border_terms: [], mark_terms: [] },
  });
  const address = withQuery(window.location.href, {
    text: isInAddress() && text !== given.text ? text : null,
    tokenizer: id === given.choices[0].id ? null : id,
  });
  window.history.replaceState(window.history.state, "", address);
}

/** @param {Error} error */
function tell(error) {
  view.removeAttribute("aria-busy");
  problem.textContent = error.message;
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
startFrame(() => ["token_boundaries", { ...(isInAddress() ? { text } : {}), ...(chosen.id === "gpt2" ? { tokenizer: "GPT-2" } : {}) }]);
