// Brings the player beside it what Python has for it: a visitor's words, or a block of merges. Each
// is a small message of its own, so that what the player has already is not sent again with it.

const couriers = new WeakMap();

export default function mountCourier({ data, parentElement }) {
  let courier = couriers.get(parentElement);
  if (!courier) {
    couriers.set(parentElement, (courier = { data, ending: new AbortController() }));
    document.addEventListener("bpe-player-messages-wanted", () => tell(courier.data), { signal: courier.ending.signal });
  }
  courier.data = data;
  tell(data);
  return () => {
    courier.ending.abort();
    couriers.delete(parentElement);
  };
}

function tell(detail) {
  document.dispatchEvent(new CustomEvent("bpe-player-message", { detail }));
}
