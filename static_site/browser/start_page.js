// The start page: the loop on the visitor's own sentence.

import mountStartLoop from "../../ui/components/start_loop/start_loop.js";
import { find } from "../../ui/components/shared/elements.js";
import { openDoor } from "./doors.js";
import { startFrame } from "./page_frame.js";
import { draw } from "./stage.js";

/** @import { OpenedDoor } from "./doors.js" */

const PARAMETER = "sentence";

const given = JSON.parse(find(document, "#given", HTMLElement).textContent ?? "");
draw(find(document, "[data-component='bpe.start_loop']", HTMLElement), mountStartLoop, given, (_, value) =>
  openDoor(/** @type {OpenedDoor} */ (value)));
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
