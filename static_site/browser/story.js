// The scenes below the start page's first screen, loaded once that is drawn.

import mountStory from "../../ui/components/story/story.js";
import { deliver } from "../../ui/components/story/reading.js";
import { wholeAndPartial } from "../../ui/components/shared/characters.js";
import { find } from "../../ui/components/shared/elements.js";
import { encodePretokens } from "./encode.js";
import { openDoor } from "./doors.js";
import { draw, nextTask } from "./stage.js";
import { loadData } from "./stored_data.js";
import { readVocabulary } from "./vocabulary.js";

/** @import { OpenedDoor } from "./doors.js"
    @import { Vocabulary } from "./vocabulary.js" */

/** @type {Promise<Vocabulary> | undefined} */
let loaded;

/** Load GPT-4o's vocabulary, which offline may be missing, or else GPT-2's. */
async function vocabulary() {
  const [message] = await loadData("o200k_base").catch(() => loadData("gpt2"));
  await nextTask();
  return readVocabulary(message);
}

/** @param {string} text */
async function read(text) {
  loaded ??= vocabulary();
  const found = await loaded;
  const ids = encodePretokens(text, found).flat();
  const tokens = ids.map((id) => {
    const bytes = Array.from(found.tokens[id], (byte) => byte.charCodeAt(0));
    const pieces = wholeAndPartial(bytes);
    return pieces.length === 1 && typeof pieces[0] === "string" ? pieces[0] : bytes;
  });
  deliver({ text, model: found.name, ids, tokens });
}

const { sentence, last_doors } = JSON.parse(find(document, "#given", HTMLElement).textContent ?? "");
loadData("story").then(([message]) => {
  const story = JSON.parse(new TextDecoder().decode(message));
  draw(find(document, "[data-component='bpe.story']", HTMLElement), mountStory, { sentence, doors: last_doors, ...story }, (name, value) => {
    if (name === "door") openDoor(/** @type {OpenedDoor} */ (value));
    if (name === "reading") read(String(value)).catch(() => (loaded = undefined));
  });
});
