// Whether the page's server is on the visitor's own machine.

/** Return whether a name or an address leads to the machine that asks for it.
    @param {string} hostname as in a location */
export function isThisMachine(hostname) {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
