// A question with a few answers. A press is judged here, before Python hears of it.

import { spokenToken } from "../shared/characters.js";
import { addButton, addPart } from "../shared/elements.js";
import { makeTile } from "../shared/token_drawing.js";
import { frameSharedCharacters, layTiles } from "../shared/word_tiles.js";

/** @import { Component, Token } from "../shared/component.js" */

/** An answer: a text, or tokens with their ids, of which those below 0 are symbols.
    @typedef {{ text: string, tokens: Token[], ids: number[] }} Option */

/** `answer` is -1 if the answer was shown without a guess, null if there is none yet.
    @typedef {{ text: string, options: Option[], right: number[], because: string, answer: number | null }} Question */

const SHOWN = -1;

/** @param {Component<Question>} component */
export default function mountQuestion({ data, parentElement, setStateValue }) {
  const had = parentElement.querySelector(".question");
  // A rerun draws the question again, and the verdict keeps the keyboard focus.
  const isFocused = Boolean(had?.querySelector(":focus"));
  had?.remove();
  const root = addPart(parentElement, "div", "question");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Question");
  addPart(root, "p", "asked", data.text);
  const list = addPart(root, "div", "options");
  const choose = (/** @type {number} */ answer) => {
    judge(answer);
    setStateValue("answer", answer);
  };
  const buttons = data.options.map((option, place) => addOption(list, option, () => choose(place)));
  const skip = addButton(list, "skip", "Show me", () => choose(SHOWN));
  const verdict = addPart(root, "p", "verdict");
  verdict.setAttribute("role", "status");
  verdict.tabIndex = -1;

  /** @param {number} answer */
  const judge = (answer) => {
    const hadFocus = isFocused || [...buttons, skip].some((button) => button.matches(":focus"));
    buttons.forEach((button, place) => {
      button.disabled = true;
      const isRight = data.right.includes(place);
      if (!isRight && place !== answer) return;
      button.classList.add(isRight ? "right" : "wrong");
      addPart(button, "span", "mark", isRight ? "✓" : "✗");
      // Tiles are read by their label, which hides the mark.
      if (button.ariaLabel) button.ariaLabel += isRight ? ", right" : ", wrong";
    });
    skip.remove();
    if (answer in data.options) addPart(verdict, "b", "", data.right.includes(answer) ? "Right. " : "Not quite. ");
    verdict.append(data.because);
    if (hadFocus) verdict.focus({ preventScroll: true });
  };
  if (data.answer !== null) judge(data.answer);
  return () => root.remove();
}

/** @param {HTMLElement} list
    @param {Option} option
    @param {() => void} choose */
function addOption(list, { text, tokens, ids }, choose) {
  const button = addButton(list, "option", text, choose);
  if (!tokens.length) return button;
  const tiles = tokens.map((token, k) => makeTile(token, ids[k], { symbol: ids[k] < 0 }));
  frameSharedCharacters(tiles, tokens);
  layTiles(addPart(button, "span", "tiles"), tiles, tokens);
  button.setAttribute("aria-label", tokens.map(spokenToken).join(", "));
  return button;
}
