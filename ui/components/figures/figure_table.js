// Rows of figures; the better one of a row is bold and has a dot. A name with a meaning opens it.

export default function ({ data, parentElement }) {
  parentElement.querySelector("table")?.remove();
  const table = addPart(parentElement, "table", "");
  addPart(table, "caption", "", data.caption);
  const columns = addPart(addPart(table, "thead", ""), "tr", "");
  for (const name of ["", ...data.columns]) {
    const cell = addPart(columns, name ? "th" : "td", "", name);
    if (name) cell.scope = "col";
  }
  const body = addPart(table, "tbody", "");
  data.rows.forEach(([name, figures, better], place) => {
    const row = addPart(body, "tr", "");
    const head = addPart(row, "th", "");
    head.scope = "row";
    if (data.meanings[place]) {
      const fold = addPart(head, "details", "");
      addPart(fold, "summary", "", name);
      addPart(fold, "p", "", data.meanings[place]);
    } else head.textContent = name;
    figures.forEach((figure, k) => {
      const cell = addPart(row, "td", k === better ? "better" : "", figure);
      if (k === better) addPart(cell, "span", "said", ", better");
    });
  });
  return () => table.remove();
}
