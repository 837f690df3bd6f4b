// Binary search.

/** Return the last of low, low + 1, ..., high for which `holds` is true. It is assumed to be true for
    `low`, and false for all that follow the first for which it is false.
    @param {number} low
    @param {number} high
    @param {(place: number) => boolean} holds */
export function lastThat(low, high, holds) {
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
