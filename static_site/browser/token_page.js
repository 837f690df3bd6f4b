// Token boundaries: a text typed here, encoded here.

import mountLiveText from "../../ui/components/live_text/live_text.js";
import { sizeText } from "../../ui/components/live_text/pastes.js";
import mountView from "../../ui/components/token_view/view.js";
import { addPart, find } from "../../ui/components/shared/elements.js";
import { grouped } from "../../ui/components/shared/numbers.js";
import { withQuery } from "./links.js";
import { keptRun } from "./own_run/kept.js";
import { startFrame } from "./page_frame.js";
import { draw, nextTask } from "./stage.js";
import { startEngine } from "./start_engine.js";
import { loadData } from "./stored_data.js";

/** @import { Engine } from "./engine/engine.js"
    @import { KeptRun } from "./own_run/kept.js" */

/** A tokenizer to choose: its name in the address, none if a link cannot hold it, and what opens it.
    @typedef {{ id: string, name: string, code: string, linked: boolean, open: (engine: Engine) => ReturnType<Engine["open"]> }} Choice */

/** @type {{ text: string, max_length: number, max_in_address: number, limits: { pasted: number, edited: number, bytes: number, sent: number },
      choices: Pick<Choice, "id" | "name" | "code">[] }} */
const given = JSON.parse(find(document, "#given", HTMLElement).textContent ?? "");
const EXCERPT = 2000;
const OWN = "own";
const FROM_FILE = 'tokenizer = bpe.open_encoder("tokenizer.json")';
const field = find(document, "[data-component='bpe.live_text']", HTMLElement);
const view = find(document, "[data-component='bpe.token_view']", HTMLElement);
const note = find(document, "#note", HTMLElement);
const problem = find(document, "#problem", HTMLElement);
const radios = find(document, "fieldset", HTMLElement);
const file = find(document, "#tokenizer-file", HTMLInputElement);
const query = new URLSearchParams(window.location.search);

/** @type {Choice[]} */
const choices = given.choices.map((each) => ({
  ...each,
  linked: true,
  open: async (engine) => {
    const [packed] = await loadData(each.id);
    return engine.open({ packed: /** @type {ArrayBuffer} */ (packed.buffer) });
  },
}));
/** @type {Map<Choice, Promise<{ engine: Engine, opened: Awaited<ReturnType<Engine["open"]>> }>>} */
const tokenizers = new Map();
/** @type {Promise<Engine> | undefined} */
let started;
let [chosen] = choices;
let text = "";
let nShown = 0;

/** Read a text, and draw it in the field and as tokens.
    @param {string} typed
    @param {string} [before] What the field held before a large text was opened. */
function take(typed, before = "") {
  text = firstCharacters(typed.toWellFormed(), given.max_length);
  note.textContent = listNotes(typed.length).join(" ");
  const { limits } = given;
  const isWhole = typed.length <= limits.edited;
  const excerpt_note = isWhole
    ? ""
    : `The text has ${grouped(typed.length)} characters, too many to edit here. These are the first ${grouped(EXCERPT)}.`;
  const opened = typed.length <= limits.pasted ? null : ["Long text", sizeText(new Blob([typed]).size)];
  const data = { text: isWhole ? typed : firstCharacters(typed, EXCERPT), label: "Your text", lines: 4, excerpt_note, opened, limits };
  draw(field, mountLiveText, /** @type {any} */ (data), (name, value) => {
    if (name === "typed") take(String(value));
    if (name === "closed") take(before);
    if (name !== "pasted") return;
    const paste = /** @type {{ text: string, before: string }} */ (value);
    take(paste.text, paste.before);
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

/** Return a tokenizer that is open in the engine.
    @param {Choice} choice */
function opened(choice) {
  started ??= startEngine();
  started.catch(() => (started = undefined));
  const engineAtHand = started;
  const found = tokenizers.get(choice) ?? engineAtHand.then(async (engine) => ({ engine, opened: await choice.open(engine) }));
  tokenizers.set(choice, found);
  found.catch(() => tokenizers.delete(choice)); // The next choice tries again.
  return found;
}

/** Draw the text's tokens, once the tokenizer has been loaded, and note both in the address. */
async function show() {
  const choice = chosen;
  const number = (nShown += 1);
  view.setAttribute("aria-busy", "true");
  problem.textContent = "";
  const isOld = () => number !== nShown; // Meanwhile something else was typed or chosen.
  try {
    const { engine, opened: { handle, special } } = await opened(choice);
    if (isOld()) return;
    const encoded = text;
    const { packed, longest, text: shown } = await engine.show(handle, encoded);
    await nextTask();
    if (isOld()) return;
    view.removeAttribute("aria-busy");
    const spellsSpecial = special.some(([token]) => encoded.includes(token));
    const notes = [
      ...(spellsSpecial ? ["Special tokens are read as plain text."] : []),
      ...(shown === encoded ? [] : ["The tokenizer normalizes text first, and this is what it cuts."]),
    ];
    draw(view, mountView, {
      text: shown,
      packed,
      ...{ stamp: "", chosen: longest, name: choice.name, special_note: notes.join(" "), code: [choice.code], code_options: "" },
      ...{ border_terms: [], mark_terms: [] },
    });
  } catch (error) {
    if (!isOld()) throw error;
    return;
  }
  const address = withQuery(window.location.href, {
    text: isInAddress() && text !== given.text ? text : null,
    tokenizer: choice === choices[0] || !choice.linked ? null : choice.id,
  });
  window.history.replaceState(window.history.state, "", address);
}

/** @param {Error} error */
function tell(error) {
  view.removeAttribute("aria-busy");
  problem.textContent = error.message;
}

/** @param {Choice} choice */
function choose(choice) {
  chosen = choice;
  for (const radio of radios.querySelectorAll("input")) radio.checked = radio.value === choice.id;
  show().catch(tell);
}

/** Add a tokenizer to the choices; return it.
    @param {Choice} choice */
function add(choice) {
  const old = choices.findIndex(({ id }) => id === choice.id);
  if (old >= 0) {
    tokenizers.get(choices[old])?.then(({ engine, opened }) => engine.close(opened.handle)).catch(() => {});
    tokenizers.delete(choices[old]);
    choices[old] = choice;
    const radio = find(radios, `input[value="${CSS.escape(choice.id)}"]`, HTMLInputElement);
    find(/** @type {HTMLElement} */ (radio.parentElement), "span", HTMLElement).textContent = choice.name;
    return choice;
  }
  choices.push(choice);
  const label = addPart(radios, "label", "");
  const radio = addPart(label, "input", "");
  Object.assign(radio, { type: "radio", name: "tokenizer", value: choice.id });
  addPart(label, "span", "", choice.id === OWN ? "Yours" : choice.name);
  return choice;
}

/** @param {KeptRun} kept
    @returns {Choice} */
function ownChoice({ run }) {
  return { id: OWN, name: "Your tokenizer", code: FROM_FILE, linked: true, open: (engine) => engine.open({ run }) };
}

/** Open a tokenizer.json. If the engine cannot run it exactly, say why, and keep what was chosen.
    @param {File} given */
async function openFile(given) {
  problem.textContent = "";
  try {
    const json = await given.text();
    /** @type {Choice} */
    const choice = { id: `file ${given.name}`, name: given.name, code: FROM_FILE, linked: false, open: (engine) => engine.open({ json }) };
    await opened(choice);
    choose(add(choice));
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    const why = name === "SyntaxError" || message.includes("JSON") ? "It is not JSON. Choose a tokenizer.json." : message;
    tell(new Error(`${given.name} was not opened. ${why}`));
  }
}

radios.addEventListener("change", (event) => {
  const { value } = /** @type {HTMLInputElement} */ (event.target);
  choose(choices.find(({ id }) => id === value) ?? chosen);
});
file.addEventListener("change", async () => {
  const [first] = file.files ?? [];
  if (first) await openFile(first);
  file.value = "";
});
const main = find(document, "#main", HTMLElement);
main.addEventListener("dragover", (event) => {
  if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
});
main.addEventListener("drop", (event) => {
  const [first] = event.dataTransfer?.files ?? [];
  if (!first) return;
  event.preventDefault();
  event.stopPropagation();
  openFile(first);
}, { capture: true });
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#examples button"))) {
  button.addEventListener("click", () => take(button.dataset.text ?? ""));
}

async function start() {
  const asked = query.get("tokenizer");
  const reading = keptRun().then((kept) => kept && add(ownChoice(kept)));
  const own = asked === OWN ? await reading : null;
  if (asked === OWN && !own) note.textContent = "No run of yours is kept in this browser.";
  chosen = own ?? choices.find(({ id }) => id === asked) ?? choices[0];
  for (const radio of radios.querySelectorAll("input")) radio.checked = radio.value === chosen.id;
  take(query.get("text") ?? given.text);
}
start();
startFrame(() => ["token_boundaries", { ...(isInAddress() ? { text } : {}), ...(chosen.id === "gpt2" ? { tokenizer: "GPT-2" } : {}) }]);
