// Streamlit calls a component again when the theme changes. The first call only takes note of it.

const known = new WeakMap();

export default function ({ parentElement, setTriggerValue }) {
  const scheme = getComputedStyle(parentElement.host ?? parentElement).colorScheme;
  if (known.has(parentElement) && known.get(parentElement) !== scheme) setTriggerValue("theme", scheme);
  known.set(parentElement, scheme);
}
