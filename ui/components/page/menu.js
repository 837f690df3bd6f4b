// The navigation in a narrow window, which opens over the page.

const OPENER = '[data-testid="stExpandSidebarButton"]';
const MENU = '[data-testid="stSidebar"]';
const CLOSER = '[data-testid="stSidebarCollapseButton"] button'; // there only while it is open
const LINK = '[data-testid="stSidebarNavLink"]';
const PAGE = '[data-testid="stMain"]';
const STORED = "stSidebarCollapsed-"; // Streamlit's key in the browser's storage, with the app's path

/** Let the navigation open and close as menus do: it takes the focus and gives it back, closes by Escape,
    after a choice and when the focus leaves it, and is closed on each page that is loaded. Name the button
    that opens it, which Streamlit calls "Expand sidebar". Both come and go with the width of the window.
    @param {Document} page
    @param {string} name */
export function mendMenu(page, name) {
  const find = (/** @type {string} */ selector) => /** @type {HTMLElement | null} */ (page.querySelector(selector));
  const close = () => find(CLOSER)?.click();
  let wasOpen = false;
  let isChosen = false; // a link was, so the menu closes over another page

  const follow = () => {
    const opener = find(OPENER);
    if (opener && opener.getAttribute("aria-label") !== name) opener.setAttribute("aria-label", name);
    const menu = find(MENU);
    const isOpen = menu?.dataset.collapsed === "false";
    if (isOpen === wasOpen) return;
    wasOpen = isOpen;
    if (isOpen) {
      forgetState(page);
      isChosen = false;
      (find(`${LINK}[aria-current]`) ?? find(LINK))?.focus();
    } else if (page.activeElement === page.body || menu?.contains(page.activeElement)) {
      (isChosen ? find(PAGE) : opener)?.focus({ preventScroll: true });
    }
  };

  close();
  follow();
  // The header is replaced as a whole when the window becomes narrow, so all of the page is watched.
  new MutationObserver(follow).observe(page.body, { childList: true, subtree: true, attributeFilter: ["data-collapsed"] });
  page.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element) || !target.closest(LINK)) return;
    isChosen = true;
    close();
  });
  page.addEventListener("keydown", ({ key }) => { if (key === "Escape") close(); });
  page.addEventListener("focusin", ({ target }) => {
    if (wasOpen && target instanceof Element && target !== page.body && !target.closest(MENU)) close();
  });
}

/** Remove what Streamlit stores of an open menu: it would cover the next page that is loaded.
    @param {Document} page */
function forgetState(page) {
  const storage = page.defaultView?.localStorage;
  for (const key of Object.keys(storage ?? {})) if (key.startsWith(STORED)) storage?.removeItem(key);
}
