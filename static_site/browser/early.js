// Runs before the page is drawn: hides its frame if it is shown within another page, and adds the fonts.

import { EMBED } from "./links.js";

document.documentElement.classList.toggle("embedded", new URLSearchParams(window.location.search).get(EMBED) === "1");

// Stored by the service worker, or in the folder that the page was opened from, they are there at once.
if (window.location.protocol === "file:" || navigator.serviceWorker?.controller) {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = "fonts.css";
  document.head.append(link);
}
