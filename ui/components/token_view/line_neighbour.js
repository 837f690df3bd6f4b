// Move between lines of elements of different widths.

const MIN_LINE = 20; // px, the least distance between lines

/** Return the nearest element in the line below or above; the same one if there is no such line.
    @param {number} at
    @param {1 | -1} direction
    @param {number} n
    @param {(place: number) => { top: number, left: number } | undefined} getBox */
export function lineNeighbour(at, direction, n, getBox) {
  const here = getBox(at);
  if (!here) return at;
  let best = at;
  let bestDistance = Infinity;
  let line = null;
  for (let i = at + direction; i >= 0 && i < n; i += direction) {
    const box = getBox(i);
    if (!box || Math.abs(box.top - here.top) < MIN_LINE) continue;
    line ??= box.top;
    if (Math.abs(box.top - line) > MIN_LINE) break;
    const distance = Math.abs(box.left - here.left);
    if (distance < bestDistance) [best, bestDistance] = [i, distance];
  }
  return best;
}
