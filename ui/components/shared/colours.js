// The colour slots of tokens and tokenizers. tokens.css defines the shades.

const SLOTS = 8;
const SERIES = 8;

// Slots that look too similar side by side: jade (4) and sky (5), sky and mauve (7).
const TOO_CLOSE = new Uint8Array(SLOTS * SLOTS);
for (const [a, b] of [[4, 5], [5, 7]]) TOO_CLOSE[a * SLOTS + b] = TOO_CLOSE[b * SLOTS + a] = 1;
for (let slot = 0; slot < SLOTS; slot++) TOO_CLOSE[slot * SLOTS + slot] = 1;

/** Return the colour slot of an id, 0 to 7: the same id always has the same colour.
    @param {number} id */
export function colourSlot(id) {
  return Math.imul(id, 2654435761) >>> 29;
}

/** A token, and the steps at which a picture shows it, the last one exclusive.
    @typedef {{ token: string, from: number, until: number }} Shown */

/** Return the colour slots of the tokens of a picture, by token: each token has one wherever it stands, and
    two share one only if the picture has more tokens than there are colours.
    @param {Shown[]} shown In the order of their first steps.
    @param {Map<string, number>} before Slots that tokens keep, from an earlier picture.
    @returns {Map<string, number>} */
export function assignSlots(shown, before = new Map()) {
  /** @type {Shown[][]} */
  const bySlot = Array.from({ length: SLOTS }, () => []);
  const isTaken = (/** @type {number} */ slot, /** @type {Shown} */ { from, until }) =>
    bySlot[slot].some((other) => other.from < until && from < other.until);
  const added = shown.filter((one) => {
    const slot = before.get(one.token) ?? -1;
    if (slot < 0 || bySlot[slot].length) return true;
    bySlot[slot].push(one);
    return false;
  });
  for (const one of added) {
    const first = hashText(one.token) % SLOTS;
    const cost = (/** @type {number} */ slot) =>
      (isTaken(slot, one) ? 1000 : 0) + bySlot[slot].length + ((slot - first + SLOTS) % SLOTS) / SLOTS;
    const slot = bySlot.map((_, slot) => slot).reduce((best, slot) => (cost(slot) < cost(best) ? slot : best));
    bySlot[slot].push(one);
  }
  return new Map(bySlot.flatMap((all, slot) => all.map(({ token }) => [token, slot])));
}

/** Return the colour slot of a token without an id, 0 to 7.
    @param {string} token */
export function hashSlot(token) {
  return hashText(token) % SLOTS;
}

/** @param {string} text */
function hashText(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return hash >>> 0;
}

/** Return the classes of a tokenizer's colour, by its position among those compared: eight colours, and
    where they come round again the dot has a hole.
    @param {number} place */
export function seriesColour(place) {
  return `series-${place % SERIES}${Math.floor(place / SERIES) % 2 ? " again" : ""}`;
}

/** Return the slots of tokens in running text: each as colourSlot, moved on by 3 where it is too close to
    its left neighbour. An id below 0 stands for text in no token: it has no colour.
    @param {ArrayLike<number>} ids */
export function runningSlots(ids) {
  const slots = new Uint8Array(ids.length);
  let left = -1;
  for (let i = 0; i < ids.length; i++) {
    if (ids[i] < 0) {
      left = -1;
      continue;
    }
    let slot = colourSlot(ids[i]);
    while (left >= 0 && TOO_CLOSE[left * SLOTS + slot]) slot = (slot + 3) % SLOTS;
    slots[i] = left = slot;
  }
  return slots;
}
