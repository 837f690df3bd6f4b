// Where words of many widths stand in a grid of cells.

export const LONGEST_WORD = 40; // base symbols drawn of one word
const TILE_GAP = 3;

/** How many lines tiles of these widths take. */
export function lineCount(widths, line) {
  let lines = 1;
  let x = 0;
  for (const width of widths) {
    if (x > 0 && x + width > line) {
      lines++;
      x = 0;
    }
    x += width + TILE_GAP;
  }
  return lines;
}

/** Gives each word the first cells that are free, as long as there is room. */
export function placedIn(sizes, columns, rows) {
  const taken = new Set();
  return sizes.flatMap((size) => {
    const place = freePlace(taken, columns, rows, size.span, size.lines);
    return place ? [{ ...size, ...place }] : [];
  });
}

function freePlace(taken, columns, rows, span, lines) {
  for (let row = 0; row + lines <= rows; row++) {
    for (let column = 0; column + span <= columns; column++) {
      const cells = [];
      for (let y = row; y < row + lines; y++) for (let x = column; x < column + span; x++) cells.push(y * columns + x);
      if (cells.every((cell) => !taken.has(cell))) {
        cells.forEach((cell) => taken.add(cell));
        return { row, column };
      }
    }
  }
  return null;
}
