// The cuts of the app's pre-tokenizers: the tables of the kernels' scanners.

/** @import { Memory, Numbers } from "./memory.js" */

/** @typedef {object} ScannerData
    @property {number[]} columns
    @property {number[]} rows
    @property {number[]} flags
    @property {number} rules
    @property {boolean} before_space_only Whether a text is cut safely only before a space.
    @property {unknown} pre_tokenizer What a tokenizer.json says of this cut. */

/** @typedef {object} Tables
    @property {number[]} classes Each run of code points of one class: how many there are, and the class.
    @property {Record<string, ScannerData>} scanners
    @property {string} changing A pattern of the parts of a text that a normal form of Unicode may change.
    @property {{ added_tokens: object[], model: object }} file A tokenizer.json as the app writes it, with one added token.
    @property {Record<string, string>} cuts The name of each cut, by its steps in a tokenizer.json. */

/** @typedef {"ROOM" | "SCAN_UP_TO" | "PAIR_ROW" | "NARROW_ROW" | "WORD_ROW" | "MAX_ROWS" | "LONG_WORD" | "SLACK" | "FIRST_SYMBOL" | "ENTRY" | "CELLS"} Size */

/** @typedef {Tables & Record<Size, number>} EngineData What `engine_data.py` writes. */

export class Cut {
  #memory;
  #beforeSpaceOnly;

  /** Throws an Error for the name of a cut that has no scanner.
      @param {Memory} memory
      @param {EngineData} data
      @param {string} name */
  constructor(memory, data, name) {
    const found = data.scanners[name];
    if (!found) throw new Error(`The cut ${name} is not available in the browser. Use the app.`);
    this.#memory = memory;
    this.#beforeSpaceOnly = found.before_space_only;
    const classes = memory.array("uint8", 0x110000);
    const table = memory.view(classes);
    let at = 0;
    for (let i = 0; i < data.classes.length; i += 2) table.fill(data.classes[i + 1], at, (at += data.classes[i]));
    /** The tables that kernels take as `scanner`. */
    this.scanner = {
      classes,
      columns: memory.copy("uint8", found.columns),
      rows: memory.copy("int32", found.rows),
      flags: memory.copy("uint8", found.flags),
      rules: found.rules,
      joined: memory.array("uint8", 0),
    };
  }

  /** Return the first byte from `near` on where a text can be cut without changing any pre-token, or its length.
      @param {Numbers} text
      @param {number} near */
  safeSplit(text, near) {
    return /** @type {number} */ (
      this.#memory.call("counting.safe_split", {
        text, near, end: text.shape[0], classes: this.scanner.classes, before_space_only: Number(this.#beforeSpaceOnly),
      })
    );
  }
}
