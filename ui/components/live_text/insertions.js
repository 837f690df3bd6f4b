// Look at what is pasted or dropped into a text area before the browser inserts it.

/** @import { Insertion } from "./pastes.js" */

/** Call `take` with what is pasted or dropped into a text area, before the browser inserts it; the browser
    does nothing if `take` returns true.
    @param {EventTarget} target The area, or what it is in.
    @param {(area: HTMLTextAreaElement) => boolean} isArea Whether a text area is meant.
    @param {(insertion: Insertion, area: HTMLTextAreaElement) => boolean} take
    @param {AbortSignal} signal */
export function onInsertion(target, isArea, take, signal) {
  let ownText = false; // text moved within the page is not new, and is removed from where it was
  const handle = (/** @type {Event} */ event, /** @type {DataTransfer | null} */ data, isDrop = false) => {
    const area = event.composedPath()[0];
    if (!(area instanceof HTMLTextAreaElement) || !isArea(area) || data?.files.length) return;
    const text = data?.getData("text/plain") ?? "";
    const at = isDrop ? dropPlace(/** @type {DragEvent} */ (event), area) : null;
    const [start, end] = at === null ? [area.selectionStart, area.selectionEnd] : [at, at];
    if (text && take({ text, start, end }, area)) event.preventDefault();
  };
  /** @param {string} type
      @param {(event: Event) => void} listener */
  const listen = (type, listener) => target.addEventListener(type, listener, { signal, capture: true });
  listen("paste", (event) => handle(event, /** @type {ClipboardEvent} */ (event).clipboardData));
  listen("dragstart", (event) => { ownText = event.composedPath()[0] instanceof HTMLTextAreaElement; });
  listen("dragend", () => { ownText = false; });
  listen("drop", (event) => {
    if (!ownText) handle(event, /** @type {DragEvent} */ (event).dataTransfer, true);
  });
}

/** Return where a drop goes in the text of an area; null where the browser cannot tell.
    @param {DragEvent} event
    @param {HTMLTextAreaElement} area */
function dropPlace(event, area) {
  if (!("caretPositionFromPoint" in document)) return null;
  const root = area.getRootNode();
  const shadowRoots = root instanceof ShadowRoot ? [root] : [];
  // Older type definitions lack the second parameter.
  const find = /** @type {(x: number, y: number, options: object) => CaretPosition | null} */ (document.caretPositionFromPoint.bind(document));
  const position = find(event.clientX, event.clientY, { shadowRoots });
  return position?.offsetNode === area ? position.offset : null;
}
