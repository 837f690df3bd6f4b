// Numbers, written the same way on every page.

/** 12345 -> "12,345".
    @param {number} number */
export function grouped(number) {
  return number.toLocaleString("en-US");
}

/** "1 merge", "1,379 merges"; an irregular plural is passed too.
    @param {number} count
    @param {string} noun
    @param {string} plural */
export function counted(count, noun, plural = `${noun}s`) {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** "once", "twice", "1,379 times".
    @param {number} count */
export function times(count) {
  return count === 1 ? "once" : count === 2 ? "twice" : `${grouped(count)} times`;
}
