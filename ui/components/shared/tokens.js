// Token drawing that every component shares; stands in front of each component's own script.
// A token arrives as a string where its bytes are UTF-8, else as a list of byte values.

const SLOTS = 8;
const SERIES = 8;

// Slots that differ too little side by side: jade (4) and sky (5), sky and mauve (7).
const TOO_CLOSE = new Uint8Array(SLOTS * SLOTS);
for (const [a, b] of [[4, 5], [5, 7]]) TOO_CLOSE[a * SLOTS + b] = TOO_CLOSE[b * SLOTS + a] = 1;
for (let slot = 0; slot < SLOTS; slot++) TOO_CLOSE[slot * SLOTS + slot] = 1;

/** The colour slot of an id, 0 to 7: the same id always has the same colour. */
function slotOf(id) {
  return Math.imul(id, 2654435761) >>> 29;
}

/** The classes of a tokenizer's colour, by its place among those compared: eight colours, and where
    they come round again the dot has a hole. */
function seriesOf(place) {
  return `series-${place % SERIES}${Math.floor(place / SERIES) % 2 ? " again" : ""}`;
}

/** Slots of tokens in running text: each as slotOf, moved on by 3 where it is too close to its left
    neighbour. An id below 0 stands for text in no token: it has no colour. */
function runningSlots(ids) {
  const slots = new Uint8Array(ids.length);
  let left = -1;
  for (let i = 0; i < ids.length; i++) {
    if (ids[i] < 0) {
      left = -1;
      continue;
    }
    let slot = slotOf(ids[i]);
    while (left >= 0 && TOO_CLOSE[left * SLOTS + slot]) slot = (slot + 3) % SLOTS;
    slots[i] = left = slot;
  }
  return slots;
}

const CONTROL = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00ad\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0f]/u;
const OTHER_SPACE = /[\p{Zs}]/u;
const MARK = /^\p{M}/u;

/** U+202E, as framed text for characters that have no picture of their own. */
function codePointName(character) {
  return "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
}

function hexByte(value) {
  return value.toString(16).toUpperCase().padStart(2, "0");
}

function addPart(parent, tag, className, text) {
  const part = document.createElement(tag);
  part.className = className;
  if (text !== undefined) part.textContent = text;
  parent.append(part);
  return part;
}

/** Draws a token into an element that holds nothing else: glyphs for white space, code points for
    control characters, hex for bytes that are no whole character. Never markup: textContent alone. */
function drawToken(element, token) {
  element.textContent = "";
  if (typeof token !== "string") {
    for (const value of token) addPart(element, "span", "byte", hexByte(value));
    return;
  }
  let run = "";
  const flush = () => {
    if (!run) return;
    addPart(element, "span", MARK.test(run) ? "combining" : "", run);
    run = "";
  };
  // A joiner inside an emoji belongs to its picture; alone it would be invisible.
  for (const { segment } of GRAPHEMES.segment(token)) {
    const glyph = segment === " " ? "space" : segment === "\t" ? "tab" : segment === "\n" ? "newline" : null;
    if (glyph) {
      flush();
      addPart(element, "i", `glyph ${glyph}`);
    } else if (segment === "\r\n") {
      flush();
      addPart(element, "span", "code-point", "U+000D");
      addPart(element, "i", "glyph newline");
    } else if ([...segment].every((c) => CONTROL.test(c) || OTHER_SPACE.test(c))) {
      flush();
      for (const character of segment) addPart(element, "span", "code-point", codePointName(character));
    } else {
      run += segment;
    }
  }
  flush();
}

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** What a screen reader says for a token: white space and control characters by name. */
function spokenToken(token) {
  if (typeof token !== "string") return "bytes " + token.map(hexByte).join(" ");
  const names = { " ": "space", "\t": "tab", "\n": "newline" };
  return [...token]
    .map((c) => names[c] ?? (CONTROL.test(c) || OTHER_SPACE.test(c) ? codePointName(c) : c))
    .join(token.length > 1 && [...token].every((c) => names[c]) ? " " : "")
    .replace(/^space(?=.)/, "space ");
}

/** A new tile that shows a token; symbols that no merge made stay white, tokens take their slot. */
function makeTile(token, id, { symbol = false, small = false } = {}) {
  const tile = document.createElement("span");
  tile.className = `tile ${symbol ? "symbol" : `slot-${slotOf(id)}`}${small ? " small" : ""}`;
  drawToken(tile, token);
  return tile;
}

/** A typed array over base64 text: "Int32Array", "Uint16Array", "Float64Array", ... */
function numbersFromBase64(ArrayType, base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new ArrayType(bytes.buffer, 0, bytes.length / ArrayType.BYTES_PER_ELEMENT);
}

/** 12345 -> "12,345". */
function grouped(number) {
  return number.toLocaleString("en-US");
}
