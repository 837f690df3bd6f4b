// The game against BPE, all of which runs in the page.

import mountGame from "../../ui/components/game/game.js";
import { find } from "../../ui/components/shared/elements.js";
import { startFrame } from "./page_frame.js";
import { draw } from "./stage.js";

const { lesson, ...data } = JSON.parse(find(document, "#given", HTMLElement).textContent ?? "");
draw(find(document, "[data-component='bpe.game']", HTMLElement), mountGame, data);
startFrame(() => ["lessons", { lesson }]);
