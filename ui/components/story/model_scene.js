// What a model sees, as it is drawn: tiles that turn from letters to ids, and three questions.

import { findDirection } from "../shared/characters.js";
import { colourSlot } from "../shared/colours.js";
import { addPart, find } from "../shared/elements.js";
import { counted } from "../shared/numbers.js";
import { drawToken, makeTile } from "../shared/token_drawing.js";
import { lettersAsked, MAX_TOKENS, MODELS, moreTokens, priceSentence, spokenId, sumRows } from "./model.js";
import { guessLanguage } from "../shared/languages.js";
import { hearReadings } from "./reading.js";

/** @import { Carried } from "../shared/carried.js"
    @import { Price } from "./model.js"
    @import { Reading } from "./reading.js" */

const MAX_LENGTH = 300; // characters of the visitor's sentence
const STEP = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
const DELAY = 40; // ms from tile to tile

export class ModelScene {
  /** @param {HTMLElement} root
      @param {{ readings: Record<"sentence" | "letters" | "sum", Reading>, prices: Price[] }} given
      @param {(text: string) => void} ask Asks for the reading of a sentence. */
  constructor(root, given, ask) {
    this.root = root;
    this.given = given;
    this.ask = ask;
    this.list = find(root, ".ids", HTMLElement);
    this.live = find(root, ".spoken", HTMLElement);
    /** @type {string | null} */
    this.text = null;
    this.ending = new AbortController();
    const { signal } = this.ending;
    for (const radio of /** @type {NodeListOf<HTMLInputElement>} */ (root.querySelectorAll("input"))) {
      radio.addEventListener("change", () => this.#turn(radio.value === "model"), { signal });
    }
    this.list.addEventListener("keydown", (event) => this.#step(event), { signal });
    hearReadings((reading) => {
      if (reading.text === this.text) this.#show(reading);
    }, signal);
    this.#writeLetters();
    this.#writeSum();
    this.#writePrices();
  }

  /** @param {Carried} sentence */
  take({ text }) {
    const own = [...text.slice(0, 2 * MAX_LENGTH)].slice(0, MAX_LENGTH).join("").toWellFormed();
    if (own === this.text) return;
    this.text = own;
    if (own === this.given.readings.sentence.text || !own) this.#show(this.given.readings.sentence);
    else this.ask(own);
  }

  destroy() {
    this.ending.abort();
  }

  /** @param {Reading} reading */
  #show({ text, model, ids, tokens }) {
    find(this.root, ".cut-by", HTMLElement).textContent = `Cut by ${model}`;
    find(this.root, ".more-ids", HTMLElement).textContent = moreTokens(ids.length - MAX_TOKENS);
    this.list.textContent = "";
    this.list.lang = guessLanguage(text);
    this.list.dir = findDirection(text) || "ltr";
    ids.slice(0, MAX_TOKENS).forEach((id, i) => {
      const item = addPart(this.list, "li", "");
      item.style.setProperty("--after", `${i * DELAY}ms`);
      const button = addPart(item, "button", "token");
      button.type = "button";
      button.tabIndex = i ? -1 : 0;
      button.setAttribute("aria-label", spokenId(tokens[i], id));
      const fog = addPart(button, "span", "letters");
      drawToken(fog, tokens[i]);
      const faces = addPart(button, "span", `faces slot-${colourSlot(id)}`);
      drawToken(addPart(faces, "span", "face front"), tokens[i]);
      addPart(faces, "span", "face back", String(id));
    });
  }

  /** @param {boolean} isModel */
  #turn(isModel) {
    this.root.classList.toggle("model-sees", isModel);
    this.live.textContent = isModel
      ? `The model is given ${counted(this.list.children.length, "number")}: ${[...this.list.querySelectorAll(".back")].map((back) => back.textContent).join(", ")}.`
      : `You see: ${[...this.list.querySelectorAll("button")].map((button) => (button.getAttribute("aria-label") ?? "").replace(/: \d+$/, "")).join(", ")}.`;
  }

  /** Move among the tokens by arrow keys.
      @param {KeyboardEvent} event */
  #step(event) {
    const step = STEP[/** @type {keyof typeof STEP} */ (event.key)];
    const buttons = [...this.list.querySelectorAll("button")];
    const at = buttons.findIndex((button) => button.matches(":focus"));
    const next = buttons[at + (step ?? 0)];
    if (!step || at < 0 || !next) return;
    event.preventDefault();
    event.stopPropagation();
    buttons[at].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  // --- the three questions -----------------------------------------------------------------------

  #writeLetters() {
    const { letters, given } = lettersAsked(this.given.readings.letters);
    const word = find(this.root, ".asked", HTMLElement);
    for (const { letter, isAsked } of letters) addPart(word, isAsked ? "b" : "span", "", letter);
    const ids = find(this.root, ".given-ids", HTMLElement);
    for (const id of given) ids.append(makeTile(String(id), id));
  }

  #writeSum() {
    const sum = find(this.root, ".sum", HTMLElement);
    for (const { sign, parts } of sumRows(this.given.readings.sum)) {
      const row = addPart(sum, "p", sign === "=" ? "total" : "");
      addPart(row, "span", "sign", sign);
      const digits = addPart(row, "span", "digits");
      for (const { digits: text, id } of parts) digits.append(makeTile(text, id, { symbol: text.length === 1 }));
      if (sign !== "=") markUnits(/** @type {HTMLElement} */ (digits.lastElementChild), /** @type {string} */ (parts.at(-1)?.digits));
      addPart(row, "span", "sum-ids", parts.map(({ id }) => id).join(" "));
    }
  }

  #writePrices() {
    const prices = find(this.root, ".prices", HTMLElement);
    for (const price of this.given.prices) {
      addPart(prices, "p", "", price.text).lang = price.lang;
      for (const model of MODELS) {
        const row = addPart(prices, "p", "coins");
        addPart(row, "span", "", model);
        const coins = addPart(row, "span", "meter");
        coins.setAttribute("aria-hidden", "true");
        for (let coin = 0; coin < price[model]; coin++) addPart(coins, "i", "");
        addPart(row, "b", "", String(price[model]));
      }
    }
    find(this.root, ".price-said", HTMLElement).textContent = priceSentence(this.given.prices);
  }
}

/** Underline the units of a number: whether they are a token of their own.
    @param {HTMLElement} tile
    @param {string} digits */
function markUnits(tile, digits) {
  tile.textContent = digits.slice(0, -1);
  addPart(tile, "b", "", digits.slice(-1));
}
