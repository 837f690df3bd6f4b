// Train: a text that is pasted or chosen here becomes a tokenizer here.

import mountRivals from "../../ui/components/rivals/rivals.js";
import mountVerdict from "../../ui/components/figures/verdict.js";
import { sizeText } from "../../ui/components/live_text/pastes.js";
import { halfCharacter } from "../../ui/components/shared/characters.js";
import { addButton, addPart, find } from "../../ui/components/shared/elements.js";
import { counted, grouped } from "../../ui/components/shared/numbers.js";
import { withQuery } from "./links.js";
import { forget, keep, keptRun, keptText } from "./own_run/kept.js";
import { divide, MAX_BYTES, neededMemory, readText } from "./own_run/own_text.js";
import { byHeartSentence, findInterval, judge, methodSentence, resultSentence, rivalRow } from "./own_run/verdict_words.js";
import { startFrame } from "./page_frame.js";
import { draw } from "./stage.js";
import { startEngine } from "./start_engine.js";
import { loadData } from "./stored_data.js";

/** @import { Engine } from "./engine/engine.js"
    @import { Progress } from "./engine/training.js"
    @import { KeptRun, OwnDocument, Settings } from "./own_run/kept.js"
    @import { Counted, Interval } from "./own_run/verdict_words.js" */

/** @typedef {{ id: string, name: string, size: string }} Published */

const MAX_EDITED = 200_000; // characters: more would freeze a text field
const SHARE_OF_COUNTING = 0.2; // of the bar
const SECONDS_BEFORE_PACE = 0.3;
const SAID_FROM = 1e6; // bytes: smaller texts need too little to mention
const RIBBON_BYTES = 1800;
const TYPED = "Your text";

/** @type {{ least: number, most: number, special: string[], first: Settings, cuts: [string, string][], published: Published[] }} */
const given = JSON.parse(find(document, "#given", HTMLElement).textContent ?? "");
const part = (/** @type {string} */ id) => find(document, `#${id}`, HTMLElement);
const form = find(document, "#settings", HTMLFormElement);
const area = find(document, "#own-text", HTMLTextAreaElement);
const files = find(document, "#files", HTMLInputElement);
const size = find(document, "#size", HTMLInputElement);
const least = find(document, "#least", HTMLInputElement);
const bar = find(document, "#bar", HTMLProgressElement);
const trainButton = find(document, "#train", HTMLButtonElement);
const cancelButton = find(document, "#cancel", HTMLButtonElement);
const download = find(document, "#download", HTMLAnchorElement);
const addRival = find(document, "#add-rival", HTMLButtonElement);
const utf8 = new TextEncoder();

/** @type {OwnDocument[]} */
let documents = [];
/** @type {string[]} */
let remarks = [];
/** @type {Promise<Engine> | undefined} */
let engine;
let isTraining = false;
/** Done when the files that were chosen so far have been read. */
let reading = Promise.resolve();
let nJudged = 0;

// --- the form ------------------------------------------------------------------------------------------

/** Return all documents: the files, and what is typed. */
function allDocuments() {
  const typed = area.value.toWellFormed();
  return typed.trim() ? [...documents, { name: TYPED, bytes: utf8.encode(typed) }] : documents;
}

/** @returns {Settings} */
function settings() {
  const { value } = find(form, "input[name=cut]:checked", HTMLInputElement);
  return { vocabSize: size.valueAsNumber, cut: value, minFrequency: least.valueAsNumber };
}

/** @param {Settings} chosen */
function fill({ vocabSize, cut, minFrequency }) {
  size.value = String(vocabSize);
  least.value = String(minFrequency);
  for (const radio of radios("cut")) radio.checked = radio.value === cut;
}

/** @param {string} name */
function radios(name) {
  return /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll(`input[name=${name}]`));
}

/** Draw what the form holds, and put the settings in the address; a text never goes there. */
function showForm() {
  const { vocabSize, cut, minFrequency } = settings();
  for (const radio of radios("amount")) radio.checked = Number(radio.value) === vocabSize;
  part("cut-name").textContent = given.cuts.find(([name]) => name === cut)?.[1] ?? "";
  const n = vocabSize - given.least;
  const sentence = part("size-sentence");
  sentence.replaceChildren();
  if (n >= 0) {
    // "Up to": the text is counted only once it is trained on, and may have fewer pairs.
    sentence.append("Join the most frequent pair ");
    addPart(sentence, "b", "", `up to ${counted(n, "time")}`);
    sentence.append(`. Vocabulary size ${grouped(vocabSize)} = 256 bytes + ${given.special.length} special + room for ${grouped(n)}`);
  }
  const { first } = given;
  const address = withQuery(window.location.href, {
    size: !Number.isInteger(vocabSize) || vocabSize === first.vocabSize ? null : String(vocabSize),
    cut: cut === first.cut ? null : cut,
    least: !Number.isInteger(minFrequency) || minFrequency === first.minFrequency ? null : String(minFrequency),
  });
  window.history.replaceState(window.history.state, "", address);
}

/** Draw the documents and their figures. */
function showText() {
  const list = part("documents");
  list.replaceChildren();
  documents.forEach((document, place) => {
    const line = addPart(list, "li", "");
    addPart(line, "b", "", document.name);
    addPart(line, "span", "gray", sizeText(document.bytes.length));
    const button = addButton(line, "", "Remove", () => {
      documents = documents.filter((_, i) => i !== place);
      remarks = remarks.filter((remark) => !remark.startsWith(`${document.name}:`));
      showText();
      find(window.document, "#own-text", HTMLElement).focus();
    });
    button.setAttribute("aria-label", `Remove ${document.name}`);
  });
  const all = allDocuments();
  const nBytes = all.reduce((n, { bytes }) => n + bytes.length, 0);
  const half = halfCharacter(area.value);
  const shown = half ? [...remarks, `${half}: replaced with U+FFFD.`] : remarks;
  part("remarks").textContent = shown.join(" ");
  part("figures").textContent = nBytes ? `${sizeText(nBytes)} in ${counted(all.length, "document")}. About 8% will be kept aside to check it on.` : "";
  const { needed, isMuch } = neededMemory(nBytes);
  const much = isMuch ? " A phone may close the page for that: use a computer, or less text." : "";
  part("needs").textContent = nBytes < SAID_FROM ? "" : `Needs about ${sizeText(needed)} of memory.${much}`;
}

/** Take files that were chosen or dropped, after those before them.
    @param {Iterable<File>} chosen */
function takeFiles(chosen) {
  const files = [...chosen]; // The field's own list is emptied.
  reading = reading.then(() => readFiles(files));
  return reading;
}

/** @param {File[]} chosen */
async function readFiles(chosen) {
  const problems = [];
  let nBytes = allDocuments().reduce((n, { bytes }) => n + bytes.length, 0);
  for (const file of chosen) {
    nBytes += file.size;
    if (nBytes > MAX_BYTES) {
      problems.push(`With ${file.name} the text would have ${sizeText(nBytes)}. Up to ${sizeText(MAX_BYTES)} can be trained on here, and more in the app.`);
      nBytes -= file.size;
      continue;
    }
    try {
      const { bytes, remark } = readText(new Uint8Array(await file.arrayBuffer()), file.name);
      documents.push({ name: file.name, bytes });
      if (remark) remarks.push(remark);
    } catch (error) {
      const { name, message } = /** @type {Error} */ (error);
      problems.push(name === "Error" ? message : `${file.name} could not be read (${message}).`);
    }
  }
  tell(problems.join(" "));
  showText();
}

/** @param {string} problem */
function tell(problem) {
  part("problem").textContent = problem;
}

/** Return a sentence on what is wrong in the form; empty if it can be trained. */
function formProblem() {
  const { vocabSize, minFrequency } = settings();
  const nBytes = allDocuments().reduce((n, { bytes }) => n + bytes.length, 0);
  if (!nBytes) return "Paste a text or choose a file first.";
  if (nBytes > MAX_BYTES) return `The text has ${sizeText(nBytes)}. Up to ${sizeText(MAX_BYTES)} can be trained on here, and more in the app.`;
  if (!Number.isInteger(vocabSize) || vocabSize < given.least || vocabSize > given.most) {
    return `Expected a vocabulary size from ${grouped(given.least)} to ${grouped(given.most)}.`;
  }
  return Number.isInteger(minFrequency) && minFrequency > 0 ? "" : "Expected a whole number of times that a pair must occur, at least 1.";
}

// --- training ------------------------------------------------------------------------------------------

async function trainHere() {
  await reading; // Pressed sooner, it would train on some of the files, or with other settings.
  const problem = formProblem();
  tell(problem);
  if (problem || isTraining) return;
  const all = allDocuments();
  const chosen = settings();
  const id = crypto.getRandomValues(new Uint32Array(2)).join("-");
  const keepText = (/** @type {string} */ of) => keep({ text: { id: of, documents: all, settings: chosen } });
  isTraining = true;
  showState("running", "Training");
  bar.removeAttribute("value");
  part("pace").textContent = "Keeping the text, in case this tab is closed meanwhile.";
  try {
    await keepText(id);
    part("pace").textContent = `Counting the pre-tokens of ${sizeText(all.reduce((n, { bytes }) => n + bytes.length, 0))}.`;
    const started = await startOnce();
    const { training, heldOut } = divide(all);
    const beginning = beginningOf(training[0]);
    const options = { documents: training, ...chosen, specialTokens: given.special };
    const pace = paceReporter();
    const run = await started.train(options, pace);
    if (!run.counts.length && run.stopReason === "cancelled") {
      throw new Error("Training was cancelled before the first merge, so nothing was learned.");
    }
    part("pace").textContent = `${counted(run.counts.length, "merge")} learned. Encoding the held-out text.`;
    const { handle } = await started.open({ run });
    const nHeldOut = sum(await started.count(handle, heldOut.texts));
    const { ids, lengths } = await started.place(handle, beginning);
    await started.close(handle);
    /** @type {KeptRun} */
    const made = { id, title: all.length === 1 ? all[0].name : counted(all.length, "document"), run, ribbon: { text: beginning, ids: [...ids], lengths: [...lengths] }, heldOut, nHeldOut };
    const isKept = await keep({ run: made });
    if (!isKept) await keepText(""); // This training ended, although no run has its id.
    isTraining = false;
    await showRun(made, isKept);
    part("outcome-heading").focus();
  } catch (error) {
    isTraining = false;
    await keepText("");
    const kept = await keptRun();
    if (kept) await showRun(kept, true);
    else showState("empty", "What you will get");
    tell(/** @type {Error} */ (error).message);
  }
}

/** Return the beginning of a text, without half a character.
    @param {Uint8Array} bytes */
function beginningOf(bytes) {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, RIBBON_BYTES), { stream: true });
}

/** Return the engine, started at the first call. */
function startOnce() {
  engine ??= startEngine();
  engine.catch(() => (engine = undefined)); // The next press tries again.
  return engine;
}

/** Return a function that shows how far a training is. */
function paceReporter() {
  let [stage, since] = ["", 0];
  return (/** @type {Progress} */ progress) => {
    const { done, total } = progress;
    if (progress.stage !== stage) [stage, since] = [progress.stage, performance.now()];
    const seconds = (performance.now() - since) / 1000;
    const share = total ? done / total : 1;
    bar.value = stage === "counting" ? SHARE_OF_COUNTING * share : SHARE_OF_COUNTING + (1 - SHARE_OF_COUNTING) * share;
    const isKnown = seconds > SECONDS_BEFORE_PACE && done > 0;
    const left = isKnown ? `, about ${secondsText(((total - done) * seconds) / done)} left at this rate` : "";
    const rate = isKnown ? `, ${grouped(Math.round(done / seconds))} a second` : "";
    part("pace").textContent = stage === "counting"
      ? `Counted the pre-tokens of ${sizeText(done)} of ${sizeText(total)}${left}.`
      : `Merge ${grouped(done)} of ${grouped(total)}${rate}${left}.`;
  };
}

/** @param {number} seconds */
function secondsText(seconds) {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

// --- the result ----------------------------------------------------------------------------------------

/** @param {"empty" | "running" | "result"} shown
    @param {string} heading */
function showState(shown, heading) {
  for (const state of ["empty", "running", "result"]) part(state).hidden = state !== shown;
  part("outcome-heading").textContent = heading;
  part("badge").hidden = shown !== "result";
  trainButton.disabled = shown === "running";
  cancelButton.disabled = false;
  if (shown === "result") return;
  part("judged").hidden = true;
  nJudged += 1;
}

/** @param {KeptRun} kept
    @param {boolean} isKept */
async function showRun(kept, isKept) {
  const { run, title, heldOut, nHeldOut } = kept;
  showState("result", "Trained");
  const isCancelled = run.stopReason === "cancelled";
  part("badge").className = isCancelled ? "orange-badge" : "green-badge";
  part("badge").textContent = isCancelled ? "stopped early" : "✓ finished";
  part("result-sentence").textContent = `${title}: ${resultSentence(run)}`;
  const nTokens = run.tokensAfter[run.counts.length];
  const perToken = run.nBytes / nTokens;
  part("bytes-per-token").textContent = perToken.toFixed(2);
  const onNew = nHeldOut ? heldOut.nBytes / nHeldOut : null;
  part("on-new").textContent = onNew === null ? "too little text to keep some aside to check it on" : `${onNew.toFixed(2)} on text it never saw`;
  part("tokens").textContent = grouped(nTokens);
  const duration = run.seconds < 1 ? `${Math.ceil(1000 * run.seconds)} ms` : `${run.seconds.toFixed(1)} s`;
  part("from").textContent = `from ${counted(run.nBytes, "byte")}, in ${duration}`;
  part("by-heart").textContent = byHeartSentence(run.counts, onNew === null ? null : perToken / onNew - 1);
  part("kept").textContent = isKept
    ? "The run and its text stay in this browser until you delete them, or train again."
    : "This browser keeps nothing for this page: the run is lost with this tab, and only this page can show it. Download the tokenizer now.";
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".own"))) link.hidden = !isKept;
  try {
    const json = await (await startOnce()).tokenizerJson(run);
    URL.revokeObjectURL(download.href);
    download.href = URL.createObjectURL(new Blob([json], { type: "application/json" }));
    await judgeRun(kept);
  } catch (error) {
    tell(/** @type {Error} */ (error).message);
  }
}

/** @param {Float64Array} numbers */
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Compare the run with GPT-2, and with others once they are asked for.
    @param {KeptRun} kept */
async function judgeRun({ run, heldOut, nHeldOut }) {
  if (!heldOut.nBytes) return;
  const number = (nJudged += 1);
  const own = { name: "yours", vocabSize: run.firstId + run.counts.length, tokens: nHeldOut };
  /** @type {(Counted & { interval: Interval | null })[]} */
  const others = [];
  let chosen = "";
  const isWhole = heldOut.how === "documents";
  const counts = async (/** @type {Parameters<Engine["open"]>[0]} */ tokenizer) => {
    const started = await startOnce();
    const { handle, vocabSize } = await started.open(tokenizer);
    const each = await started.count(handle, heldOut.texts);
    await started.close(handle);
    return { each, vocabSize };
  };
  /** @type {ReturnType<typeof counts> | undefined} */
  let ownCounts;
  /** @param {Published} published */
  const add = async ({ id, name }) => {
    const [packed] = await loadData(id);
    const { each, vocabSize } = await counts({ packed: /** @type {ArrayBuffer} */ (packed.buffer) });
    ownCounts ??= counts({ run });
    const interval = isWhole ? findInterval((await ownCounts).each, each) : null;
    others.push({ name, vocabSize, tokens: sum(each), interval });
    show();
  };
  const show = () => {
    if (number !== nJudged) return; // Meanwhile the run was deleted, or another one is being trained.
    const ordered = others.toSorted((one, other) => one.tokens - other.tokens);
    const against = ordered.find(({ name }) => name === chosen) ?? ordered[0];
    part("judged").hidden = !against;
    const left = given.published.filter(({ name }) => !others.some((other) => other.name === name));
    addRival.hidden = !left.length;
    if (left.length) {
      const [{ name, size }] = left;
      addRival.textContent = size ? `Add ${name} (${size})` : `Add ${name}`;
      addRival.onclick = async () => {
        addRival.disabled = true;
        await add(left[0]).catch((error) => tell(error.message));
        addRival.disabled = false;
      };
    }
    if (!against) return;
    const { sentence, aside } = judge(own, against, heldOut, against.interval);
    draw(part("verdict"), mountVerdict, { sentence, aside, terms: [] });
    const rows = ordered.map((other) => rivalRow(own, other, others.indexOf(other) + 1, other.interval));
    draw(part("rivals"), mountRivals, { rows, name: "your tokenizer", chosen: others.indexOf(against) + 1 }, (name, place) => {
      const pressed = others[Number(place) - 1];
      if (name === "against") chosen = pressed.name;
      else if (others.length > 1) others.splice(others.indexOf(pressed), 1);
      show();
    });
    part("method").textContent = methodSentence(against.interval, heldOut);
  };
  await add(given.published[0]);
}

// --- the page ------------------------------------------------------------------------------------------

/** Fill the form with what the address has, or else with what was kept; return the text that was kept. */
async function fillForm() {
  const query = new URLSearchParams(window.location.search);
  const text = await keptText();
  const number = (/** @type {string} */ name, /** @type {number} */ usual) => Number(query.get(name)) || usual;
  const usual = [...query.keys()].some((name) => ["size", "cut", "least"].includes(name)) ? given.first : text?.settings ?? given.first;
  const asked = query.get("cut") ?? usual.cut;
  const cut = given.cuts.some(([name]) => name === asked) ? asked : given.first.cut;
  fill({ vocabSize: number("size", usual.vocabSize), cut, minFrequency: number("least", usual.minFrequency) });
  if (text && !area.value) {
    const typed = text.documents.find(({ name }) => name === TYPED);
    const isShort = typed && typed.bytes.length <= MAX_EDITED;
    documents = isShort ? text.documents.filter((each) => each !== typed) : text.documents;
    if (isShort) area.value = new TextDecoder("utf-8", { ignoreBOM: true }).decode(typed.bytes);
  }
  showForm();
  showText();
  return text;
}

async function start() {
  const filling = fillForm();
  reading = filling.then(() => {});
  const [text, run] = await Promise.all([filling, keptRun()]);
  if (run) await showRun(run, true);
  if (text?.id && text.id !== run?.id && !isTraining) {
    tell("The last training was interrupted before it ended. Its text is here: press Train to begin again.");
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  trainHere();
});
form.addEventListener("input", (event) => {
  const { name, value } = /** @type {HTMLInputElement} */ (event.target);
  if (name === "amount") size.value = value;
  showForm();
});
area.addEventListener("input", showText);
area.addEventListener("paste", (event) => {
  const pasted = event.clipboardData?.getData("text/plain") ?? "";
  if (area.value.length + pasted.length <= MAX_EDITED) return;
  event.preventDefault();
  takeFiles([new File([pasted.toWellFormed()], "Pasted text")]);
});
files.addEventListener("change", async () => {
  await takeFiles(files.files ?? []);
  files.value = "";
});
const main = part("main");
main.addEventListener("dragover", (event) => {
  if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
});
main.addEventListener("drop", (event) => {
  const dropped = event.dataTransfer?.files;
  if (!dropped?.length) return;
  event.preventDefault();
  takeFiles([...dropped]);
});
cancelButton.addEventListener("click", async () => {
  cancelButton.disabled = true;
  (await startOnce()).cancel();
});
part("delete").addEventListener("click", async () => {
  await forget();
  documents = [];
  remarks = [];
  area.value = "";
  URL.revokeObjectURL(download.href);
  showState("empty", "What you will get");
  showText();
  tell("");
  area.focus();
});
window.addEventListener("beforeunload", (event) => {
  if (isTraining) event.preventDefault();
});
start();
startFrame(() => ["train", {}]);
