// The notebook's theme. Each notebook marks a dark theme in its own way, but all of them write in a
// light colour then.

/** Draw an element light or dark, like the text around it; return the function that stops it.
    @param {HTMLElement} host
    @param {HTMLElement} around */
export function followTheme(host, around) {
  const draw = () => (host.style.colorScheme = isLight(getComputedStyle(around).color) ? "dark" : "light");
  const observer = new MutationObserver(draw);
  for (const marked of [document.documentElement, document.body]) observer.observe(marked, { attributes: true });
  draw();
  return () => observer.disconnect();
}

/** Return whether a colour is light, however CSS writes it.
    @param {string} colour */
function isLight(colour) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return 0.299 * red + 0.587 * green + 0.114 * blue > 128;
}
