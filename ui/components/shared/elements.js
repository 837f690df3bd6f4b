// Page elements. Text is only ever set as text, so nothing a visitor typed becomes markup.

/** Append an element to a parent.
    @template {keyof HTMLElementTagNameMap} Tag
    @param {ParentNode} parent
    @param {Tag} tag
    @param {string} className
    @param {string} [text] */
export function addPart(parent, tag, className, text) {
  const part = document.createElement(tag);
  part.className = className;
  if (text !== undefined) part.textContent = text;
  parent.append(part);
  return part;
}

/** @param {ParentNode} parent
    @param {string} className
    @param {string | undefined} text
    @param {(event: MouseEvent) => void} act */
export function addButton(parent, className, text, act) {
  const button = addPart(parent, "button", className, text);
  button.type = "button";
  button.addEventListener("click", act);
  return button;
}

/** Return the first element that matches a selector; throw if there is none.
    @template {HTMLElement} Kind
    @param {ParentNode} parent
    @param {string} selector
    @param {new () => Kind} kind
    @returns {Kind} */
export function find(parent, selector, kind) {
  const found = parent.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`Expected a ${kind.name} that matches ${selector}.`);
  return found;
}

/** Return the target of an event, or the nearest element around it, that matches a selector.
    @param {Event} event
    @param {string} selector
    @returns {HTMLElement | null} */
export function closest(event, selector) {
  return event.target instanceof Element ? event.target.closest(selector) : null;
}

/** Keep key presses from Streamlit, which has shortcuts on single letters.
    @param {HTMLElement} element */
export function keepKeys(element) {
  element.addEventListener("keydown", (event) => event.stopPropagation());
}
