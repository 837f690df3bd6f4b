// Restore line ends: a text area turns all of them into line feeds.

/** Return the offset in a text of a place in the same text with line feeds alone.
    @param {string} text
    @param {number} place */
export function offsetWithLineEnds(text, place) {
  let offset = place;
  for (let at = text.indexOf("\r\n"); at >= 0 && at < offset; at = text.indexOf("\r\n", at + 2)) offset++;
  return offset;
}

/** Return the typed text with the line ends of the previous text. A new line ends as all the others
    do, or in a line feed if they differ.
    @param {string} before
    @param {string} typed */
export function withLineEnds(before, typed) {
  if (!before.includes("\r")) return typed;
  /** @type {string[]} */
  const ends = before.match(/\r\n?|\n/g) ?? [];
  const plain = before.replace(/\r\n?/g, "\n");
  const shorter = Math.min(plain.length, typed.length);
  let same = 0;
  while (same < shorter && plain[same] === typed[same]) same++;
  let sameAtEnd = 0;
  while (sameAtEnd < shorter - same && plain.at(-1 - sameAtEnd) === typed.at(-1 - sameAtEnd)) sameAtEnd++;
  const usual = new Set(ends).size === 1 ? ends[0] : "\n";
  const feeds = Array.from(plain.matchAll(/\n/g), ({ index }) => index);
  let next = 0;
  const kept = Array.from(typed.matchAll(/\n/g), ({ index: at }) => {
    const isAfter = at >= typed.length - sameAtEnd;
    if (at >= same && !isAfter) return usual;
    const place = isAfter ? at - typed.length + plain.length : at;
    while (feeds[next] < place) next++;
    return ends[next];
  });
  const lines = typed.split("\n");
  // If the text between "\r" and "\n" is deleted, they must not combine into one line end.
  const isOne = (/** @type {number} */ i) => kept[i] === "\r" && lines[i + 1] === "" && kept[i + 1] === "\n";
  return lines.map((line, i) => line + (isOne(i) ? "\r\n" : kept[i] ?? "")).join("");
}
