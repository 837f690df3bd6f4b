// The scenes below the start page's first screen, loaded once that is drawn.

import mountStory from "../../ui/components/story/story.js";
import { deliver } from "../../ui/components/story/reading.js";
import { find } from "../../ui/components/shared/elements.js";
import { openDoor } from "./doors.js";
import { draw } from "./stage.js";
import { startEngine } from "./start_engine.js";
import { loadData } from "./stored_data.js";

/** @import { OpenedDoor } from "./doors.js" */

/** @type {ReturnType<typeof open> | undefined} */
let opened;

/** Open GPT-4o's tokenizer, which offline may be missing, or else GPT-2's. */
async function open() {
  const engine = await startEngine();
  const [model, [packed]] = await loadData("o200k_base").then(
    (found) => /** @type {const} */ (["GPT-4o", found]),
    async () => /** @type {const} */ (["GPT-2", await loadData("gpt2")]),
  );
  const { handle } = await engine.open({ packed: /** @type {ArrayBuffer} */ (packed.buffer) });
  return { engine, handle, model };
}

/** @param {string} text */
async function read(text) {
  opened ??= open();
  const { engine, handle, model } = await opened;
  const { ids } = await engine.encode(handle, text);
  const { table } = (await engine.show(handle, text)).packed;
  const tokens = new Map(table.ids.map((id, place) => [id, table.tokens[place]]));
  deliver({ text, model, ids: [...ids], tokens: Array.from(ids, (id) => tokens.get(id) ?? "") });
}

const { sentence, last_doors } = JSON.parse(find(document, "#given", HTMLElement).textContent ?? "");
loadData("story").then(([message]) => {
  const story = JSON.parse(new TextDecoder().decode(message));
  draw(find(document, "[data-component='bpe.story']", HTMLElement), mountStory, { sentence, doors: last_doors, ...story }, (name, value) => {
    if (name === "door") openDoor(/** @type {OpenedDoor} */ (value));
    if (name === "reading") read(String(value)).catch(() => (opened = undefined));
  });
});
