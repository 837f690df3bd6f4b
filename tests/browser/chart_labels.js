// Return which texts of the Plotly charts on the page are cut, and which of their labels touch.
() => {
  const slack = 1;
  const found = [];
  for (const chart of document.querySelectorAll(".js-plotly-plot")) {
    const name = chart.id || chart.closest("[class*='st-key-']")?.className.match(/st-key-(\S+)/)[1];
    const room = chart.querySelector(".main-svg").getBoundingClientRect();
    const boxes = (selector) =>
      [...chart.querySelectorAll(selector)]
        .map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }))
        .filter(({ text, box }) => text.trim() && box.width);
    for (const { text, box } of boxes(".main-svg text")) {
      const isCut =
        box.left < room.left - slack || box.right > room.right + slack ||
        box.top < room.top - slack || box.bottom > room.bottom + slack;
      if (isCut) found.push(`${name}: "${text}" is cut`);
    }
    const labels = boxes(".xtick text, .ytick text, .y2tick text, .annotation text, .gtitle, .xtitle");
    labels.forEach((one, place) => {
      for (const other of labels.slice(place + 1)) {
        const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        // A line is taller than its letters, so a small overlap is not a touch.
        if (across > 0 && down > 5) found.push(`${name}: "${one.text}" touches "${other.text}"`);
      }
    });
  }
  return found;
}
