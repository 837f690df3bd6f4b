// Delivers messages from Python to the player: a visitor's words, or a block of merges. They are
// separate from the player's own data, so that the run is not sent again with each of them.

/** @import { Component } from "../shared/component.js"
    @import { OwnWords } from "./player.js" */

/** @typedef {Uint8Array | OwnWords} Message */

/** @type {WeakMap<ShadowRoot, { data: Message, ending: AbortController }>} */
const couriers = new WeakMap();

/** @param {Component<Message>} component */
export default function mountCourier({ data, parentElement }) {
  const courier = couriers.get(parentElement) ?? { data, ending: new AbortController() };
  if (!couriers.has(parentElement)) {
    couriers.set(parentElement, courier);
    document.addEventListener("bpe-player-messages-wanted", () => tell(courier.data), { signal: courier.ending.signal });
  }
  courier.data = data;
  tell(data);
  return () => {
    courier.ending.abort();
    couriers.delete(parentElement);
  };
}

/** @param {Message} detail */
function tell(detail) {
  document.dispatchEvent(new CustomEvent("bpe-player-message", { detail }));
}
