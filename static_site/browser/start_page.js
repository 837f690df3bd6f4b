// The start page: the loop on the visitor's own sentence.

import mountStartLoop from "../../ui/components/start_loop/start_loop.js";
import { find } from "../../ui/components/shared/elements.js";
import { withQuery, withSameFrame } from "./links.js";
import { startFrame } from "./page_frame.js";
import { draw } from "./stage.js";

const TAKES_SENTENCE = "token-boundaries.html";
const PARAMETER = "sentence";

const given = JSON.parse(find(document, "#given", HTMLElement).textContent ?? "");
draw(find(document, "[data-component='bpe.start_loop']", HTMLElement), mountStartLoop, given, (_, value) => {
  const { path, sentence } = /** @type {{ path: string, sentence: string }} */ (value);
  const address = withSameFrame(new URL(path, window.location.href).href, window.location.search);
  window.location.href = path === TAKES_SENTENCE ? withQuery(address, { text: sentence }) : address;
});
startFrame(() => {
  const sentence = new URLSearchParams(window.location.search).get(PARAMETER);
  /** @type {Record<string, string>} */
  const query = sentence ? { [PARAMETER]: sentence } : {};
  return ["start", query];
});
// The scenes below wait until the first screen is drawn.
window.addEventListener("load", () => {
  const script = document.createElement("script");
  script.src = "story.js";
  document.head.append(script);
});
