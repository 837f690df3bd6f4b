// Keeps the ids of the visitor's runs in the browser's storage, and hands those to the server that it
// does not know: after a reload, or in another tab. Where storage is blocked, nothing is kept.

const KEY = "bpe-explorer.runs";
const ID = /^[0-9a-f]{32}$/;
const MILLISECONDS_UNTIL_ASKED_AGAIN = [1500, 6000];
const timers = new WeakMap();

export default function mountRunMemory({ data, parentElement, setStateValue }) {
  const forgotten = new Set(data.forgotten);
  const ids = [...new Set([...data.runs, ...kept()])].filter((id) => !forgotten.has(id));
  const latest = ids.slice(0, data.most);
  keep(latest);
  clearTimeout(timers.get(parentElement));
  const unknown = latest.filter((id) => !data.runs.includes(id));
  if (unknown.length > 0) ask([...MILLISECONDS_UNTIL_ASKED_AGAIN]);
  return () => clearTimeout(timers.get(parentElement));

  // The answer is new data, which names each of them as a run or as forgotten. It stays away where
  // Streamlit sends the question with another component's, and draws that one's part of the page
  // alone. A state, since a trigger can be lost while a page is drawn (streamlit issue 16732); with
  // the time, since a session that the server has begun anew takes no old state for news.
  function ask(pauses) {
    setStateValue("found", { ids: unknown, asked_at: Date.now() });
    const pause = pauses.shift();
    if (pause) timers.set(parentElement, setTimeout(() => ask(pauses), pause));
  }
}

/** Return the ids in the storage: other pages of this origin may have written anything there. */
function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY));
    return Array.isArray(found) ? found.filter((id) => typeof id === "string" && ID.test(id)) : [];
  } catch {
    return [];
  }
}

function keep(ids) {
  try {
    const text = JSON.stringify(ids);
    if (ids.length === 0) localStorage.removeItem(KEY);
    else if (text !== localStorage.getItem(KEY)) localStorage.setItem(KEY, text);
  } catch {
    // Blocked or full: the list lasts as long as the page then.
  }
}
