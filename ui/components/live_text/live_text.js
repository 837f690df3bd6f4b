// Sends what was typed after a pause. What Python sends back is an echo of one's own typing, and
// is ignored, or a text from elsewhere, such as a file: that replaces what stands in the field.

import { codePointName, halfCharacter } from "../shared/characters.js";
import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";

const PAUSE_MS = 100;
const PAUSE_MS_PER_100K = 250;
// While Python reads one text the next waits, but no longer than this.
const LONGEST_WAIT_MS = 1000;
const LONGEST_PAUSE_MS = 1500;
const MOST_ECHOES = 16;
const fields = new WeakMap();

export default function mountLiveText({ data, parentElement, setTriggerValue }) {
  let field = fields.get(parentElement);
  if (!field) fields.set(parentElement, (field = makeField(parentElement)));
  field.send = (text) => setTriggerValue("typed", text);
  field.receive(data);
  return () => {
    field.stop();
    fields.delete(parentElement);
  };
}

function makeField(parent) {
  const root = addPart(parent, "div", "field");
  const label = addPart(root, "label", "");
  const area = addPart(root, "textarea", "");
  const note = addPart(root, "p", "note", "This text has carriage returns (U+000D). Typing keeps them.");
  const pastedNote = addPart(root, "p", "note", "What was pasted has carriage returns (U+000D), and a field in a browser makes line feeds of them. A file that is opened on Token boundaries keeps them.");
  pastedNote.hidden = true;
  const excerptNote = addPart(root, "p", "note");
  const excerptWords = addPart(excerptNote, "span", "");
  const clear = addPart(excerptNote, "button", "", "Write another text");
  clear.type = "button";
  const problem = addPart(root, "p", "note problem");
  problem.setAttribute("role", "alert");
  problem.hidden = true;
  area.id = "text";
  label.htmlFor = "text";
  area.spellcheck = false;
  area.setAttribute("autocomplete", "off");
  let sent = [];
  let received = null;
  // With its carriage returns, which a text area turns into line feeds.
  let whole = "";
  let timer = 0;
  let sentAt = 0;

  const field = {
    send: () => {},
    receive({ text, label: words, lines, excerpt_note: aboutExcerpt }) {
      label.textContent = words;
      area.style.setProperty("--lines", lines);
      excerptWords.textContent = aboutExcerpt;
      excerptNote.hidden = !aboutExcerpt;
      area.readOnly = Boolean(aboutExcerpt);
      if (text === received) return;
      received = text;
      note.hidden = area.readOnly || !text.includes("\r");
      const echo = sent.lastIndexOf(text);
      if (echo >= 0) {
        sent = sent.slice(echo);
        return;
      }
      sent = [];
      clearTimeout(timer);
      problem.hidden = pastedNote.hidden = true;
      area.value = whole = text;
    },
    stop() {
      clearTimeout(timer);
      root.remove();
    },
  };
  const flush = (atOnce = false) => {
    clearTimeout(timer);
    timer = 0;
    const waits = sent.length > 0 && sent.at(-1) !== received;
    if (waits && !atOnce && performance.now() - sentAt < LONGEST_WAIT_MS) {
      timer = setTimeout(flush, PAUSE_MS / 2);
      return;
    }
    const text = withLineEnds(whole, area.value);
    const half = halfCharacter(text);
    problem.hidden = half < 0;
    if (half >= 0) {
      problem.textContent = `At position ${grouped(half + 1)} stands half a character (${codePointName(text[half])}, a lone surrogate), for which no UTF-8 exists. Remove it to see the tokens.`;
      return;
    }
    whole = text;
    sent = [...sent.slice(1 - MOST_ECHOES), text];
    sentAt = performance.now();
    field.send(text);
  };
  area.addEventListener("input", () => {
    clearTimeout(timer);
    const extra = (area.value.length / 100000) * PAUSE_MS_PER_100K;
    timer = setTimeout(flush, Math.min(PAUSE_MS + extra, LONGEST_PAUSE_MS));
  });
  area.addEventListener("paste", (event) => {
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    if (pasted.includes("\r") && !whole.includes("\r")) pastedNote.hidden = false;
  });
  clear.addEventListener("click", () => {
    pastedNote.hidden = true;
    area.readOnly = false;
    area.value = whole = "";
    area.focus();
    flush(true);
  });
  area.addEventListener("blur", () => {
    if (timer) flush(true);
  });
  // Streamlit has shortcuts on single letters.
  area.addEventListener("keydown", (event) => event.stopPropagation());
  return field;
}

/** What was typed, with line feeds alone, with the line ends of the text that it was typed into; a
    new line ends as all the others do, or in a line feed where they differ. */
function withLineEnds(before, typed) {
  if (!before.includes("\r")) return typed;
  const ends = before.match(/\r\n?|\n/g);
  const plain = before.replace(/\r\n?/g, "\n");
  const shorter = Math.min(plain.length, typed.length);
  let same = 0;
  while (same < shorter && plain[same] === typed[same]) same++;
  let sameAtEnd = 0;
  while (sameAtEnd < shorter - same && plain.at(-1 - sameAtEnd) === typed.at(-1 - sameAtEnd)) sameAtEnd++;
  const usual = new Set(ends).size === 1 ? ends[0] : "\n";
  const feeds = Array.from(plain.matchAll(/\n/g), ({ index }) => index);
  let next = 0;
  return typed.replace(/\n/g, (_, at) => {
    const isAfter = at >= typed.length - sameAtEnd;
    if (at >= same && !isAfter) return usual;
    const place = isAfter ? at - typed.length + plain.length : at;
    while (feeds[next] < place) next++;
    return ends[next];
  });
}
