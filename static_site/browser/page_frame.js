// What surrounds each page: its link, the code that embeds it, the same in the app, and use offline.

import { find } from "../../ui/components/shared/elements.js";
import { copyText } from "../../ui/components/token_view/clipboard.js";
import { appLink, EMBED, frameCode, withQuery, withSameFrame } from "./links.js";

/** Connect the frame of a page.
    @param {() => [string, Record<string, string>]} inApp Returns the same page in the app, and its query. */
export function startFrame(inApp) {
  const app = document.documentElement.dataset.app ?? "";
  const said = find(document, "#said", HTMLElement);
  const copy = async (/** @type {string} */ text, /** @type {string} */ done) => {
    said.textContent = (await copyText(text)) ? done : "This browser blocked copying.";
  };
  const page = () => withQuery(window.location.href, { [EMBED]: null });
  find(document, "#copy-link", HTMLElement).addEventListener("click", () => copy(page(), "The link is copied."));
  find(document, "#copy-frame", HTMLElement).addEventListener("click", () =>
    copy(frameCode(page(), document.title), "The HTML of a frame with this page is copied."));
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("main a:not([data-app-page])"))) {
    if (link.origin === window.location.origin) link.href = withSameFrame(link.href, window.location.search);
  }
  // What is shown can change until the moment of the click.
  for (const link of document.querySelectorAll("a[data-app-page]")) {
    if (!(link instanceof HTMLAnchorElement)) continue;
    // Few apps may be framed.
    if (document.documentElement.classList.contains("embedded")) link.target = "_blank";
    const set = () => {
      const named = link.dataset.appPage;
      link.href = named ? appLink(app, named, {}) : appLink(app, ...inApp());
    };
    set();
    for (const event of ["pointerdown", "focus"]) link.addEventListener(event, set);
  }
  const whole = find(document, "#whole-page", HTMLAnchorElement);
  const setWhole = () => (whole.href = page());
  for (const event of ["pointerdown", "focus"]) whole.addEventListener(event, setWhole);
  setWhole();
  workOffline();
}

/** Keep the site for use offline, where the browser can: not from a folder, nor in every frame. */
function workOffline() {
  if (window.location.protocol === "file:" || !("serviceWorker" in navigator)) return;
  window.addEventListener("load", () => navigator.serviceWorker.register("service-worker.js").catch(() => {}));
}
