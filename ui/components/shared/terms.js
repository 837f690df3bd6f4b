// Buttons that explain terms of the glossary, like those that Streamlit draws next to its own texts.

import { addButton, addPart } from "./elements.js";
import { placeNear } from "./place_near.js";

/** A term and its definition.
    @typedef {[string, string]} Term */

let nTooltips = 0;

/** Add a button that shows the definitions of terms in a tooltip while it is pointed at or focused.
    @param {ParentNode} parent
    @param {Term[]} terms */
export function addHelp(parent, terms) {
  if (!terms.length) return;
  const help = addPart(parent, "span", "help");
  const button = addButton(help, "help-button", undefined, () => button.focus());
  button.setAttribute("aria-label", `Help for ${terms.map(([term]) => term.toLowerCase()).join(", ")}`);
  const tooltip = addPart(help, "span", "help-text");
  for (const [, definition] of terms) addPart(tooltip, "span", "", definition);
  tooltip.id = `help-${nTooltips++}`;
  tooltip.setAttribute("role", "tooltip");
  // A popover is drawn above the page, so that no scrolling box around it cuts it off.
  tooltip.popover = "manual";
  button.setAttribute("aria-describedby", tooltip.id);
  const hide = () => {
    tooltip.hidePopover();
    window.removeEventListener("scroll", hide, true);
  };
  const show = () => {
    tooltip.showPopover();
    placeNear(tooltip, button.getBoundingClientRect());
    window.addEventListener("scroll", hide, true);
  };
  button.addEventListener("focus", show);
  button.addEventListener("blur", hide);
  // A touch sends these events too, but it shows the tooltip by focusing the button.
  help.addEventListener("pointerenter", ({ pointerType }) => pointerType === "mouse" && show());
  help.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && hide());
  help.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
}
