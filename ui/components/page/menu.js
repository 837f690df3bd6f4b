// The navigation in a narrow window, which opens over the page.

const OPENER = '[data-testid="stExpandSidebarButton"]';
const CLOSER = '[data-testid="stSidebarCollapseButton"] button';
const LINK = '[data-testid="stSidebarNavLink"]';

/** Close the navigation after a choice, and name the button that opens it, which Streamlit calls
    "Expand sidebar". It comes and goes with the width of the window.
    @param {Document} page
    @param {string} name */
export function closeAndName(page, name) {
  const rename = () => {
    for (const button of page.querySelectorAll(OPENER)) {
      if (button.getAttribute("aria-label") !== name) button.setAttribute("aria-label", name);
    }
  };
  // The header is replaced as a whole when the window becomes narrow, so all of the page is watched,
  // but only for what is added.
  new MutationObserver(rename).observe(page.body, { childList: true, subtree: true });
  rename();
  page.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element) || !target.closest(LINK)) return;
    /** @type {HTMLElement | null} */ (page.querySelector(CLOSER))?.click();
  });
}
