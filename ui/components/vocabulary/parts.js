// What the vocabulary's components share: tokens as buttons, and lists that the arrow keys walk.

const MOST_LETTERS = 48;
const MOST_BYTES = 24;

/** The beginning of a token that would not fit, and whether there is more. */
function beginningOf(token) {
  if (typeof token !== "string") return [token.slice(0, MOST_BYTES), token.length > MOST_BYTES];
  if (token.length <= MOST_LETTERS) return [token, false];
  return [[...token].slice(0, MOST_LETTERS).join(""), true];
}

/** Draws a token as a tile into an element; kind is "merge", "token", "symbol" or "special". */
function drawTile(element, { id, token, kind }, { small = false } = {}) {
  const look = kind === "merge" || kind === "token" ? `slot-${slotOf(id)}` : kind;
  element.className = `tile ${look}${small ? " small" : ""}`;
  const [shown, isCut] = beginningOf(token);
  const name = addPart(element, "span", "");
  drawToken(name, shown);
  if (isCut) name.append("…");
  return element;
}

/** A token as a button that opens it. */
function tileButton(known, open, options) {
  const button = drawTile(document.createElement("button"), known, options);
  button.type = "button";
  button.setAttribute("aria-label", `${spokenToken(beginningOf(known.token)[0])}, id ${known.id}`);
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    open(known.id);
  });
  return button;
}

/** Lets the arrow keys, Home and End walk the elements of a list that a selector names. */
function walkByArrows(list, selector) {
  list.addEventListener("keydown", (event) => {
    const stops = [...list.querySelectorAll(selector)];
    const at = stops.indexOf(event.target.closest(selector));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: stops.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    stops[Math.min(Math.max(to, 0), stops.length - 1)].focus();
  });
}

/** The place of half a character in a text, for which no UTF-8 exists; -1 where there is none. */
function halfCharacter(text) {
  return text.search(/\p{Surrogate}/u);
}

/** Streamlit has shortcuts on single letters. */
function keepKeys(element) {
  element.addEventListener("keydown", (event) => event.stopPropagation());
}

function addButton(parent, className, text, act) {
  const button = addPart(parent, "button", className, text);
  button.type = "button";
  button.addEventListener("click", act);
  return button;
}
