// Where the marks of a row stand, in percent of its width.

/** @typedef {{ place: number, name: string, facts: string, vocabulary: string, tokens: string, figure: string,
      interval: string, percent: number | null, low: number | null, high: number | null }} Rival */

// More than twice the tokens are drawn at the edge.
const MIN_PERCENT = -100;

/** Return the least and the greatest figure that is drawn; 0 is always between them.
    @param {Rival[]} rivals
    @returns {[number, number]} */
export function makeScale(rivals) {
  const ends = rivals.flatMap(({ percent, low, high }) => [percent, low, high]);
  const drawn = ends.filter((end) => end !== null).map((end) => Math.max(end, MIN_PERCENT));
  const [least, most] = [Math.min(0, ...drawn), Math.max(0, ...drawn)];
  const margin = Math.max(1, (most - least) / 20);
  return [least - margin, most + margin];
}

/** Return where the line at 0, the dot, and the interval stand; null for what a row lacks.
    @param {Rival} rival
    @param {[number, number]} scale */
export function positions({ percent, low, high }, [least, most]) {
  /** @param {number} value */
  const at = (value) => (100 * (Math.max(value, MIN_PERCENT) - least)) / (most - least);
  const hasInterval = low !== null && high !== null;
  return {
    zero: at(0),
    dot: percent === null ? null : at(percent),
    start: hasInterval ? at(low) : null,
    width: hasInterval ? at(high) - at(low) : null,
  };
}
