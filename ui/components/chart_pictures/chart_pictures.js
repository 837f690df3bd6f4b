// Saves a chart of the page as PNG: its own drawing, under its title, on the page's ground.

import { addPart } from "../shared/elements.js";

const SVG = "http://www.w3.org/2000/svg";
const SCALE = 2;
const MARGIN = 16;
const FAMILIES = ["Source Sans", "Source Code Pro"];

export default function mountChartPictures({ data, parentElement }) {
  parentElement.querySelector(".row")?.remove();
  const row = addPart(parentElement, "div", "row");
  const problem = document.createElement("span");
  problem.className = "problem";
  problem.setAttribute("role", "status");
  for (const picture of data.pictures) {
    const button = addPart(row, "button", "", picture.button);
    button.type = "button";
    button.addEventListener("click", async () => {
      button.disabled = true;
      problem.textContent = "";
      try {
        save(await pngOf(picture, getComputedStyle(parentElement.host ?? parentElement)), picture.file_name);
      } catch {
        problem.textContent = "This browser could not make the picture.";
      }
      button.disabled = false;
    });
  }
  row.append(problem);
  return () => row.remove();
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function pngOf(picture, style) {
  const chart = document.querySelector(`.st-key-${CSS.escape(picture.chart)} .js-plotly-plot`);
  const layers = [...chart.querySelectorAll(".main-svg")];
  const { width, height } = layers[0].getBoundingClientRect();
  const colour = (name) => resolved(chart, style.getPropertyValue(name));

  const svg = document.createElementNS(SVG, "svg");
  const ground = add(svg, "rect", { width: "100%", height: "100%", fill: colour("--background") });
  const fonts = add(svg, "style", {});
  fonts.textContent = await fontFaces();
  let y = MARGIN;
  y = addLines(svg, picture.title, y, width, { size: 16, weight: 600, fill: colour("--text") });
  y = addLines(svg, picture.what, y, width, { size: 14, weight: 400, fill: colour("--muted") });
  for (const layer of layers) {
    const copy = layer.cloneNode(true);
    copy.style.background = "none";
    copy.setAttribute("x", MARGIN);
    copy.setAttribute("y", y + 8);
    // What is under the pointer is of the moment.
    copy.querySelector(".hoverlayer")?.replaceChildren();
    svg.append(copy);
  }
  const size = [width + 2 * MARGIN, y + 8 + height + MARGIN];
  svg.setAttribute("width", size[0]);
  svg.setAttribute("height", size[1]);
  ground.setAttribute("width", size[0]);
  ground.setAttribute("height", size[1]);
  return drawn(svg, size);
}

/** A colour as the chart's part of the page shows it: light-dark() becomes one of its two. */
function resolved(chart, value) {
  const probe = document.createElement("span");
  probe.style.color = value;
  chart.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

function add(parent, tag, attributes) {
  const part = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
  parent.append(part);
  return part;
}

/** Writes a text in as many lines as it needs; where the next line goes. */
function addLines(svg, text, top, width, { size, weight, fill }) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${weight} ${size}px "Source Sans", sans-serif`;
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (pen.measureText(longer).width <= width || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  for (const line of lines) {
    const style = `font: ${weight} ${size}px "Source Sans", sans-serif`;
    add(svg, "text", { x: MARGIN, y: top + size, fill, style }).textContent = line;
    top += size * 1.5;
  }
  return top;
}

/** The page's own fonts, their files within: an image can't fetch any. */
async function fontFaces() {
  const rules = [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule instanceof CSSFontFaceRule)
    .filter((rule) => FAMILIES.includes(rule.style.fontFamily.replaceAll(/["']/g, "")))
    .filter((rule) => rule.style.fontStyle !== "italic");
  const faces = await Promise.all(rules.map(async (rule) => {
    const path = rule.style.src.match(/url\(["']?([^"')]+)/)?.[1];
    if (!path) return "";
    const base = rule.parentStyleSheet.href ?? document.baseURI;
    const file = await (await fetch(new URL(path, base))).blob();
    return rule.cssText.replace(path, await dataUrl(file));
  }));
  return faces.join("\n");
}

function dataUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = reject;
    reader.readAsDataURL(blob);
  });
}

async function drawn(svg, [width, height]) {
  const source = new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
  const image = new Image();
  // A data: address and not blob:, from which some browsers let no canvas be read.
  image.src = await dataUrl(source);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * SCALE;
  canvas.height = height * SCALE;
  const pen = canvas.getContext("2d");
  pen.scale(SCALE, SCALE);
  pen.drawImage(image, 0, 0, width, height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
  });
}
