// The scenes below the start page's first screen, loaded once that is drawn.

import mountStory from "../../ui/components/story/story.js";
import { find } from "../../ui/components/shared/elements.js";
import { draw } from "./stage.js";
import { loadData } from "./stored_data.js";

const { sentence } = JSON.parse(find(document, "#given", HTMLElement).textContent ?? "");
loadData("story").then(([message]) => {
  const story = JSON.parse(new TextDecoder().decode(message));
  draw(find(document, "[data-component='bpe.story']", HTMLElement), mountStory, { sentence, ...story });
});
