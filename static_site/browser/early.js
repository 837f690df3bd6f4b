// Runs before the page is drawn: hides its frame if it is shown within another page.

import { EMBED } from "./links.js";

document.documentElement.classList.toggle("embedded", new URLSearchParams(window.location.search).get(EMBED) === "1");
