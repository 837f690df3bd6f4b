// Find the two neighbouring tiles that a pointer is on.

/** Return the index of the box whose border with the next box is nearest to a point; null if there are
    fewer than two boxes. Vertical distance counts four times, so that the pointer's line is preferred.
    @param {{ left: number, right: number, top: number, bottom: number }[]} boxes
    @param {number} x
    @param {number} y
    @param {boolean} isFromRight Whether the boxes stand from right to left. */
export function nearestBorder(boxes, x, y, isFromRight = false) {
  let nearest = null;
  let least = Infinity;
  for (let i = 0; i + 1 < boxes.length; i++) {
    const { left, right, top, bottom } = boxes[i];
    const next = boxes[i + 1];
    const isNextLeft = next.top === top ? next.left < left : isFromRight;
    const distance = Math.abs(x - (isNextLeft ? left : right)) + 4 * Math.max(0, top - y, y - bottom);
    if (distance < least) [least, nearest] = [distance, i];
  }
  return nearest;
}
