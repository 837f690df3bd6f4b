// Break text into lines, because a canvas does not.

/** Break a text at its spaces into lines of a maximum width; a wider word has its own line.
    @param {string} text
    @param {number} width
    @param {(text: string) => number} measureWidth */
export function wrapLines(text, width, measureWidth) {
  const [first, ...words] = text.split(" ");
  const lines = [first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (measureWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
