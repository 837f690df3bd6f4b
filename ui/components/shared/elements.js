// Elements of a page. Text is only ever set as text: nothing that a visitor typed becomes markup.

export function addPart(parent, tag, className, text) {
  const part = document.createElement(tag);
  part.className = className;
  if (text !== undefined) part.textContent = text;
  parent.append(part);
  return part;
}

export function addButton(parent, className, text, act) {
  const button = addPart(parent, "button", className, text);
  button.type = "button";
  button.addEventListener("click", act);
  return button;
}

/** Keep key presses from Streamlit, which has shortcuts on single letters. */
export function keepKeys(element) {
  element.addEventListener("keydown", (event) => event.stopPropagation());
}
