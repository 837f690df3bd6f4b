// Questions to Python that may be lost: Streamlit drops what a component sends at the moment in which
// the page is drawn or another one sends something.

import { browserClock } from "./clock.js";

/** @import { Clock } from "./clock.js" */

/** Ask now, and again after each pause; return the function to call once an answer has come.
    @param {() => void} ask
    @param {readonly number[]} pauses In milliseconds.
    @param {Clock} clock */
export function askUntilAnswered(ask, pauses, clock = browserClock) {
  let timer = 0;
  let nAsked = 0;
  const again = () => {
    ask();
    const pause = pauses[nAsked++];
    if (pause !== undefined) timer = clock.after(again, pause);
  };
  again();
  return () => clock.cancel(timer);
}
