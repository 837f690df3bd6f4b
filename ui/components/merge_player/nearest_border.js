// Find the two neighbouring tiles that a pointer is on.

/** Return the index of the box whose border with the next box is nearest to a point; null if there are
    fewer than two boxes. Vertical distance counts four times, so that the pointer's line is preferred.
    @param {{ right: number, top: number, bottom: number }[]} boxes
    @param {number} x
    @param {number} y */
export function nearestBorder(boxes, x, y) {
  let nearest = null;
  let least = Infinity;
  for (let i = 0; i + 1 < boxes.length; i++) {
    const { right, top, bottom } = boxes[i];
    const distance = Math.abs(x - right) + 4 * Math.max(0, top - y, y - bottom);
    if (distance < least) [least, nearest] = [distance, i];
  }
  return nearest;
}
