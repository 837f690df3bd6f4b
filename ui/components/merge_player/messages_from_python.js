// Delivers messages from Python to the player: a visitor's words, or a block of merges. They are
// separate from the player's own data, so that the run is not sent again with each of them.

import { onLeaving } from "../shared/leaving.js";

/** @import { Component } from "../shared/component.js"
    @import { OwnWords } from "./player.js" */

/** @typedef {Uint8Array | OwnWords} Message */

/** @type {WeakMap<ShadowRoot, { data: Message, ending: AbortController }>} */
const mounted = new WeakMap();

/** @param {Component<Message>} component */
export default function mountMessages({ data, parentElement }) {
  const mount = mounted.get(parentElement) ?? { data, ending: new AbortController() };
  if (!mounted.has(parentElement)) {
    mounted.set(parentElement, mount);
    document.addEventListener("bpe-player-messages-wanted", () => tell(mount.data), { signal: mount.ending.signal });
  }
  mount.data = data;
  tell(data);
  return onLeaving(parentElement, () => {
    mount.ending.abort();
    mounted.delete(parentElement);
  });
}

/** @param {Message} detail */
function tell(detail) {
  document.dispatchEvent(new CustomEvent("bpe-player-message", { detail }));
}
