// The addresses of the site's pages, of the same pages in the app, and of a page in another's frame.

/** The parameter of a page without its frame, for an iframe. */
export const EMBED = "embed";
const TO_APP = "open"; // on the page about the app: what to open there

/** Return an address with other query parameters; null and "" remove one.
    @param {string} address
    @param {Record<string, string | null>} changes */
export function withQuery(address, changes) {
  const url = new URL(address);
  for (const [name, value] of Object.entries(changes)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  return url.href;
}

/** Return the address of another page of the site, without a frame if the page that names it has none.
    @param {string} address
    @param {string} query The query of the page that names it. */
export function withSameFrame(address, query) {
  return withQuery(address, { [EMBED]: new URLSearchParams(query).get(EMBED) });
}

/** Return the link to a page of the app: there, if the site knows an app; else to the page about it.
    @param {string} app The app's address without a slash at its end, or "".
    @param {string} page
    @param {Record<string, string>} query */
export function appLink(app, page, query) {
  const path = [page, new URLSearchParams(query)].join("?").replace(/\?$/, "");
  return app ? `${app}/${path}` : `app.html?${new URLSearchParams({ [TO_APP]: path })}`;
}

/** Return what the page about the app is asked to open, as a path of the app; "" if it is anything else.
    @param {string} query */
export function pathInApp(query) {
  const path = new URLSearchParams(query).get(TO_APP) ?? "";
  return /^[a-z_]+(\?[^#\s]*)?$/.test(path) ? path : "";
}

/** Return the HTML that shows a page within another.
    @param {string} address
    @param {string} title */
export function frameCode(address, title) {
  const quoted = (/** @type {string} */ text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<iframe src="${quoted(withQuery(address, { [EMBED]: "1" }))}" title="${quoted(title)}" width="100%" height="640" style="border:0"></iframe>`;
}
