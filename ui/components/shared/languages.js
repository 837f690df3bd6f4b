// The language of a text, as far as its script tells: for fonts, and for a screen reader's voice.

const LANGUAGES = /** @type {[RegExp, string][]} */ ([
  [/[\u3041-\u30ff]/u, "ja"],
  [/\p{Script=Hangul}/u, "ko"],
  [/\p{Script=Han}/u, "zh"],
  [/\p{Script=Devanagari}/u, "hi"],
  [/\p{Script=Thai}/u, "th"],
  [/\p{Script=Arabic}/u, "ar"],
  [/\p{Script=Hebrew}/u, "he"],
  [/\p{Script=Greek}/u, "el"],
  [/\p{Script=Cyrillic}/u, "ru"],
  [/[ğĞıİşŞ]/u, "tr"],
]);

/** Return the tag of the language that a text is probably in; empty, which means unknown, for any other.
    @param {string} text */
export function guessLanguage(text) {
  return LANGUAGES.find(([characters]) => characters.test(text))?.[1] ?? "";
}

/** Return the id of the sample that is in a text's language, or has some of it.
    @param {string} text */
export function sampleLike(text) {
  const language = guessLanguage(text);
  if (language === "zh") return "kong-yiji";
  if (language) return "multilingual";
  if (/[äöüß]/i.test(text)) return "rotkaeppchen";
  if (/[àâçèêëîïôùûœ]/i.test(text)) return "chaperon-rouge";
  return /(?![a-z])\p{L}/iu.test(text) ? "multilingual" : "alice";
}
