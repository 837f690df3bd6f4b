// Compares the theme that is shown with the one that the page was drawn for. Streamlit calls a
// component while it still changes its styles, and not at all for a switch before it is mounted:
// so the theme is looked at now and then. It takes microseconds.

const MILLISECONDS_BETWEEN_LOOKS = 250;
const watches = new WeakMap();

export default function mountThemeWatch({ data, parentElement, setTriggerValue }) {
  const shown = () => getComputedStyle(parentElement.host ?? parentElement).colorScheme;
  const before = watches.get(parentElement);
  clearInterval(before?.timer);
  const watch = { drawnFor: data.drawn_for, asked: before?.asked };
  watch.timer = setInterval(() => {
    const scheme = shown();
    if (scheme === watch.drawnFor) watch.asked = undefined;
    // Once for each switch, even where Python draws on for the theme before.
    else if (scheme !== watch.asked) {
      watch.asked = scheme;
      setTriggerValue("theme", scheme);
    }
  }, MILLISECONDS_BETWEEN_LOOKS);
  watches.set(parentElement, watch);
  return () => clearInterval(watches.get(parentElement)?.timer);
}
