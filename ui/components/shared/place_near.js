// Where a popover stands in the window.

const EDGE = 8; // px between a popover and the edge of the window

/** Place an open popover below a box of the window, or above it if only there is room for it; where it fits
    neither way, on the side with more room, where it scrolls.
    @param {HTMLElement} popover
    @param {DOMRect} box */
export function placeNear(popover, box) {
  popover.style.maxHeight = "";
  const { offsetWidth: width, offsetHeight: height } = popover;
  const below = window.innerHeight - box.bottom - EDGE;
  const above = box.top - EDGE;
  const isBelow = height <= below || below >= above;
  const left = box.left + box.width / 2 - width / 2;
  popover.style.left = `${Math.max(EDGE, Math.min(left, document.documentElement.clientWidth - width - EDGE))}px`;
  popover.style.top = `${isBelow ? box.bottom : box.top - Math.min(height, above)}px`;
  popover.style.maxHeight = `${isBelow ? below : above}px`;
}
