// Define `window.appAtRest()`, which returns whether the app has answered all requests of the page.
// Streamlit's own status changes only with the first answer: right after a click it is still idle.
// So this watches the requests and answers themselves, and `window.timesAsked` counts the requests.
// `window.startNewSession()` starts a new visitor's session without loading the page again; it is
// complete once `window.isConnected()` returns true.
(() => {
  const RERUN_SCRIPT = 11; // of BackMsg
  const NEW_SESSION = 4; // of ForwardMsg, at the beginning of each run
  const SCRIPT_FINISHED = 6;
  const FINISHED_EARLY_FOR_RERUN = 2;
  const FRAMES_AT_REST = 3;
  // A dropped request has no answer, but a busy server may take several seconds to give one.
  const MAX_ANSWER_MS = 20_000;

  let hasAnswered = false;
  let hasBegun = false;
  let framesAtRest = 0;
  let asked = performance.now();
  let socket;
  let startsNewSession = false;
  window.timesAsked = 0;

  function onAsked() {
    window.timesAsked += 1;
    asked = performance.now();
    hasAnswered = false;
    hasBegun = false;
    framesAtRest = 0;
  }

  function onAnswered(field, value) {
    if (field === NEW_SESSION) hasBegun = true;
    if (field === SCRIPT_FINISHED && hasBegun && value !== FINISHED_EARLY_FOR_RERUN) {
      hasAnswered = true;
    }
  }

  /** Call `visit` with each field of a protobuf message, and with its value if that is a number. */
  function eachField(bytes, visit) {
    let at = 0;
    const varint = () => {
      let value = 0;
      for (let factor = 1; ; factor *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * factor;
        if (byte < 128) return value;
      }
    };
    while (at < bytes.length) {
      const tag = varint();
      const isNumber = (tag & 7) === 0;
      const value = varint(); // of a string or a message: its length
      if (!isNumber) at += value;
      visit(tag >> 3, isNumber ? value : undefined);
    }
  }

  window.WebSocket = class extends WebSocket {
    constructor(url, protocols) {
      // The last of the protocols names the session to continue.
      super(url, startsNewSession ? protocols.slice(0, 2) : protocols);
      socket = this;
      this.addEventListener("open", () => {
        startsNewSession = false;
        framesAtRest = 0; // the page may ask again what the old connection did not answer
      });
      this.addEventListener("message", ({ data }) => {
        if (data instanceof ArrayBuffer) eachField(new Uint8Array(data), onAnswered);
      });
    }

    send(data) {
      eachField(data, (field) => field === RERUN_SCRIPT && onAsked());
      super.send(data);
    }
  };

  window.startNewSession = () => {
    startsNewSession = true;
    sessionStorage.clear();
    localStorage.clear();
    socket.close();
  };
  window.isConnected = () => socket?.readyState === WebSocket.OPEN;

  /** Return what keeps the page from being at rest; nothing if it is. */
  window.unrest = () => {
    const app = document.querySelector('[data-testid="stApp"]');
    const state = app?.dataset.testScriptState ?? "missing";
    const found = [];
    if (state !== "notRunning") found.push(`the script is ${state}`);
    if (document.querySelector("h1") === null) found.push("no heading");
    if (document.querySelector('[data-testid="stSkeleton"]')) found.push("a component is loading");
    if (!hasAnswered && performance.now() - asked <= MAX_ANSWER_MS) found.push(`request ${window.timesAsked}`);
    return found;
  };

  /** Return true if all has been answered and drawn for some frames. Call this on each frame. */
  window.appAtRest = () => {
    framesAtRest = window.unrest().length ? 0 : framesAtRest + 1;
    return framesAtRest >= FRAMES_AT_REST;
  };
})();
