// Text on a canvas does not break into lines by itself.

/** Break a text at its spaces into lines of no more than a width; a word wider than that has its own.
    @param {string} text
    @param {number} width
    @param {(text: string) => number} widthOf */
export function linesOf(text, width, widthOf) {
  const [first, ...words] = text.split(" ");
  const lines = [first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
