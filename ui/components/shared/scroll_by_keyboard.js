// A box that is wider than its place can be scrolled by keyboard; one that fits is not a tab stop.

/** Make a box a tab stop while its contents do not fit; disconnect the result when it is removed.
    @param {HTMLElement} box
    @returns {ResizeObserver} */
export function scrollByKeyboard(box) {
  const watch = new ResizeObserver(() => {
    box.toggleAttribute("tabindex", box.scrollWidth > box.clientWidth);
    if (box.hasAttribute("tabindex")) box.tabIndex = 0;
  });
  watch.observe(box);
  return watch;
}
