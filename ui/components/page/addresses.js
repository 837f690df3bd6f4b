// The browser's history. Streamlit adds an entry for each change of the query, so Back would undo one
// choice after another instead of leaving the page.

/** Let a new address of the page that is open replace the old one in the history.
    @param {Window} window */
export function replaceWithinPages(window) {
  const { history, location } = window;
  const push = history.pushState.bind(history);
  // The next page may write its query before Streamlit changes the path. So the page that is left keeps the
  // address that it had when a link was pressed.
  let left = "";
  window.addEventListener("click", ({ target }) => {
    left = target instanceof Element && target.closest("a") ? location.href : "";
  }, true);
  history.pushState = (state, unused, url) => {
    const isSamePage = new URL(url ?? "", location.href).pathname === location.pathname;
    if (isSamePage) {
      history.replaceState(state, unused, url);
      return;
    }
    if (left) history.replaceState(history.state, "", left);
    left = "";
    push(state, unused, url);
  };
}
