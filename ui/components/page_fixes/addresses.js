// The browser's history. Streamlit adds an entry for each change of the query, so Back would undo one
// choice after another instead of leaving the page.

/** Let a new address of the page that is open replace the old one in the history.
    @param {Window} window */
export function replaceWithinPages({ history, location }) {
  const push = history.pushState.bind(history);
  history.pushState = (state, unused, url) => {
    const isSamePage = new URL(url ?? "", location.href).pathname === location.pathname;
    if (isSamePage) history.replaceState(state, unused, url);
    else push(state, unused, url);
  };
}
