// Which changes of an address are steps of a lesson, which are read like pages.

const STEP = /^(lesson|step_of_\d+)$/; // the parameters of a lesson and of its step

/** Return whether a query names another step than the one before; a step that is only removed is that of
    a lesson which was left.
    @param {string} before
    @param {string} after */
export function leadsOn(before, after) {
  const had = new URLSearchParams(before);
  return [...new URLSearchParams(after)].some(([name, value]) => STEP.test(name) && had.get(name) !== value);
}
