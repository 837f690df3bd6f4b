// What the characters of a text are to the eye and the ear: some are drawn by a glyph, some by their
// code point, and bytes that are not a whole character by hex.
// A token arrives as a string where its bytes are UTF-8, else as a list of byte values.

const CONTROL = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00ad\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0f]/u;
const OTHER_SPACE = /[\p{Zs}]/u;
const MARK = /^\p{M}/u;
const NOT_PLAIN = /[\p{Z}\p{Cc}\p{Cf}\p{Co}\p{Cn}\u00ad\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0f]|^\p{M}/u;
const BIDI_CONTROL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const GLYPHS = { " ": "space", "\t": "tab", "\n": "newline" };
const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const UTF8 = new TextEncoder();

/** "U+202E": the name of a character that has no picture of its own. */
export function codePointName(character) {
  return "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
}

export function hexByte(value) {
  return value.toString(16).toUpperCase().padStart(2, "0");
}

/** The bytes of a text in UTF-8. */
export function utf8(text) {
  return UTF8.encode(text);
}

/** Whether all characters of a text are drawn as they are. */
export function isPlain(text) {
  return !NOT_PLAIN.test(text);
}

export function hasBidiControl(text) {
  return BIDI_CONTROL.test(text);
}

function hasNoPicture(character) {
  return CONTROL.test(character) || OTHER_SPACE.test(character);
}

/** The position of half a character in a text, which UTF-8 cannot hold; -1 where there is none. */
export function halfCharacter(text) {
  return text.search(/\p{Surrogate}/u);
}

/** Cut a text into pieces that are drawn in different ways: {kind, text}.

    A kind is "space", "tab", "newline", "code" for one character without a picture, "mark" for text
    that begins with a combining mark, and "text" for all else. The pieces together are the text. */
export function* piecesOf(text) {
  let run = "";
  const plain = () => {
    const piece = { kind: MARK.test(run) ? "mark" : "text", text: run };
    run = "";
    return piece;
  };
  // A joiner inside an emoji belongs to its picture; alone it would be invisible.
  for (const { segment } of GRAPHEMES.segment(text)) {
    const kind = GLYPHS[segment];
    if (!kind && ![...segment].every(hasNoPicture)) {
      run += segment;
      continue;
    }
    if (run) yield plain();
    if (kind) yield { kind, text: segment };
    // A carriage return and a line feed are one segment.
    else for (const character of segment) yield { kind: GLYPHS[character] ?? "code", text: character };
  }
  if (run) yield plain();
}

/** What a screen reader says for a token: white space and control characters by name. */
export function spokenToken(token) {
  if (typeof token !== "string") return "bytes " + token.map(hexByte).join(" ");
  return [...token]
    .map((c) => GLYPHS[c] ?? (hasNoPicture(c) ? codePointName(c) : c))
    .join(token.length > 1 && [...token].every((c) => GLYPHS[c]) ? " " : "")
    .replace(/^space(?=.)/, "space ");
}
