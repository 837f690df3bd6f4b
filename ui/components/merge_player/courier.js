// Brings the player beside it what Python has for it: a visitor's words, or a block of merges. Each
// is a small message of its own, so that what the player has already is not sent again with it.

const latest = new WeakMap();

export default function ({ data, parentElement }) {
  const tell = () => document.dispatchEvent(new CustomEvent("bpe-player-message", { detail: latest.get(parentElement) }));
  const known = latest.has(parentElement);
  latest.set(parentElement, data);
  if (!known) document.addEventListener("bpe-player-messages-wanted", tell);
  tell();
  return () => {
    document.removeEventListener("bpe-player-messages-wanted", tell);
    latest.delete(parentElement);
  };
}
