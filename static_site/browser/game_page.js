// The game against BPE, all of which runs in the page.

import mountGame from "../../ui/components/game/game.js";
import { find } from "../../ui/components/shared/elements.js";
import { startFrame } from "./page_frame.js";
import { draw } from "./stage.js";

const { lesson, ...data } = JSON.parse(find(document, "#given", HTMLElement).textContent ?? "");
const host = find(document, "[data-component='bpe.game']", HTMLElement);
draw(host, mountGame, data);
host.classList.add("drawn");
startFrame(() => ["lessons", { lesson }]);
