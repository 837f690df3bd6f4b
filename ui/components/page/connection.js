// What the page says when it has lost its server.

import { isThisMachine } from "./own_machine.js";

const DIALOG_TITLE = '[data-testid="stDialog"] h2';
const STREAMLITS_TITLE = "Connection error";

/** Replace what Streamlit's dialog says: that there may be no internet, or the command that starts another
    app. On the machine of the server itself that is `here`, in other browsers `elsewhere`. Streamlit opens
    the dialog in the page's body, and closes it once the page is connected again.
    @param {Document} page
    @param {{ here: string, elsewhere: string }} lost */
export function explainLostConnection(page, lost) {
  const text = isThisMachine(page.location.hostname) ? lost.here : lost.elsewhere;
  new MutationObserver(() => {
    for (const title of page.querySelectorAll(DIALOG_TITLE)) {
      const body = title.nextElementSibling;
      if (title.textContent !== STREAMLITS_TITLE || !body || body.firstElementChild?.matches("p")) continue;
      // Hidden and not removed, because Streamlit may still change them.
      for (const said of body.children) said.setAttribute("hidden", "");
      const explained = page.createElement("p");
      explained.textContent = text;
      body.prepend(explained);
    }
  }).observe(page.body, { childList: true });
}
