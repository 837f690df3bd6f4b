// A component's state in the page's address: the player's `?step=` and `?words=`, the loop's `?sentence=`.

/** Return the value of a query parameter of an address; null if it is missing.
    @param {string} query
    @param {string} name */
export function addressParameter(query, name) {
  return new URLSearchParams(query).get(name);
}

/** Return the step in an address, at most the last step; null if there is none.
    @param {string} query
    @param {number} nMerges */
export function stepOfAddress(query, nMerges) {
  const text = addressParameter(query, "step");
  return text !== null && /^[0-9]{1,9}$/.test(text) ? Math.min(Number(text), nMerges) : null;
}

/** Return an address with another value of a query parameter; an empty value is omitted.
    @param {string} address
    @param {string} name
    @param {string} value */
export function addressWith(address, name, value) {
  const url = new URL(address);
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
  return url.href;
}

/** Return an address with another step. Step 0 is written, too: without a step, a run opens elsewhere.
    @param {string} address
    @param {number} step */
export function addressWithStep(address, step) {
  return addressWith(address, "step", String(step));
}
