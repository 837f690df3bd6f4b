// The player's state in the page's address: `?step=` and `?words=`.

/** Return the value of a name in the query of an address; null where it is not there.
    @param {string} query
    @param {string} name */
export function addressParameter(query, name) {
  return new URLSearchParams(query).get(name);
}

/** Return the step that an address names, at most the last; null where it names none.
    @param {string} query
    @param {number} nMerges */
export function stepOfAddress(query, nMerges) {
  const text = addressParameter(query, "step");
  return text !== null && /^[0-9]{1,9}$/.test(text) ? Math.min(Number(text), nMerges) : null;
}

/** Return an address with another step; the first has none in it.
    @param {string} address
    @param {number} step */
export function addressWithStep(address, step) {
  const url = new URL(address);
  if (step) url.searchParams.set("step", String(step));
  else url.searchParams.delete("step");
  return url.href;
}
