// Download a chart of the page as PNG: the chart under its title, on the page's background.

import { addButton, addPart } from "../shared/elements.js";
import { wrapLines } from "./text_lines.js";

/** @import { Component } from "../shared/component.js" */

/** A chart's key, and the texts above it in the image.
    @typedef {{ chart: string, button: string, title: string, what: string, file_name: string }} Picture */

/** @typedef {{ size: number, weight: number, fill: string }} Font */

const SVG = "http://www.w3.org/2000/svg";
const SCALE = 2;
const MARGIN = 16;
const FAMILIES = ["Source Sans", "Source Code Pro"];

/** @param {Component<{ pictures: Picture[] }>} component */
export default function mountChartPictures({ data, parentElement }) {
  parentElement.querySelector(".row")?.remove();
  const row = addPart(parentElement, "div", "row");
  const problem = document.createElement("span");
  problem.className = "problem";
  problem.setAttribute("role", "status");
  for (const picture of data.pictures) {
    const button = addButton(row, "", picture.button, async () => {
      button.disabled = true;
      problem.textContent = "";
      try {
        save(await drawPng(picture, getComputedStyle(parentElement.host)), picture.file_name);
      } catch {
        problem.textContent = "This browser could not create the image.";
      }
      button.disabled = false;
    });
  }
  row.append(problem);
  return () => row.remove();
}

/** @param {Blob} blob
    @param {string} name */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {Picture} picture
    @param {CSSStyleDeclaration} style */
async function drawPng(picture, style) {
  const chart = document.querySelector(`.st-key-${CSS.escape(picture.chart)} .js-plotly-plot`);
  if (!chart) throw new Error(`no chart ${picture.chart}`);
  const layers = [.../** @type {NodeListOf<SVGElement>} */ (chart.querySelectorAll(".main-svg"))];
  const { width, height } = layers[0].getBoundingClientRect();
  const colour = (/** @type {string} */ name) => resolved(chart, style.getPropertyValue(name));

  const svg = document.createElementNS(SVG, "svg");
  const ground = add(svg, "rect", { width: "100%", height: "100%", fill: colour("--background") });
  add(svg, "style", {}).textContent = await fontFaces();
  let y = MARGIN;
  y = addLines(svg, picture.title, y, width, { size: 16, weight: 600, fill: colour("--text") });
  y = addLines(svg, picture.what, y, width, { size: 14, weight: 400, fill: colour("--muted") });
  for (const layer of layers) {
    const copy = /** @type {SVGElement} */ (layer.cloneNode(true));
    copy.style.background = "none";
    setAttributes(copy, { x: MARGIN, y: y + 8 });
    // Hover labels do not belong in the image.
    copy.querySelector(".hoverlayer")?.replaceChildren();
    svg.append(copy);
  }
  const size = { width: width + 2 * MARGIN, height: y + 8 + height + MARGIN };
  setAttributes(svg, size);
  setAttributes(ground, size);
  return drawn(svg, size);
}

/** Return a colour as an element shows it: light-dark() is resolved to one of its two colours.
    @param {Element} chart
    @param {string} value */
function resolved(chart, value) {
  const probe = document.createElement("span");
  probe.style.color = value;
  chart.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/** @param {SVGElement} parent
    @param {string} tag
    @param {Record<string, string | number>} attributes */
function add(parent, tag, attributes) {
  const part = document.createElementNS(SVG, tag);
  setAttributes(part, attributes);
  parent.append(part);
  return part;
}

/** @param {Element} element
    @param {Record<string, string | number>} attributes */
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

/** Write a text in as many lines as it needs; return the position of the next line.
    @param {SVGElement} svg
    @param {string} text
    @param {number} top
    @param {number} width
    @param {Font} font */
function addLines(svg, text, top, width, { size, weight, fill }) {
  const style = `font: ${weight} ${size}px "Source Sans", sans-serif`;
  const pen = getPen(document.createElement("canvas"));
  pen.font = `${weight} ${size}px "Source Sans", sans-serif`;
  for (const line of wrapLines(text, width, (words) => pen.measureText(words).width)) {
    add(svg, "text", { x: MARGIN, y: top + size, fill, style }).textContent = line;
    top += size * 1.5;
  }
  return top;
}

/** @param {HTMLCanvasElement} canvas */
function getPen(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/** Return the page's fonts with their files embedded: an image cannot fetch any. */
async function fontFaces() {
  const rules = [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule instanceof CSSFontFaceRule)
    .filter((rule) => FAMILIES.includes(rule.style.getPropertyValue("font-family").replaceAll(/["']/g, "")))
    .filter((rule) => rule.style.getPropertyValue("font-style") !== "italic");
  const faces = await Promise.all(rules.map(async (rule) => {
    const path = rule.style.getPropertyValue("src").match(/url\(["']?([^"')]+)/)?.[1];
    if (!path) return "";
    const base = rule.parentStyleSheet?.href ?? document.baseURI;
    const file = await (await fetch(new URL(path, base))).blob();
    return rule.cssText.replace(path, await dataUrl(file));
  }));
  return faces.join("\n");
}

/** @param {Blob} blob
    @returns {Promise<string>} */
function dataUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = reject;
    reader.readAsDataURL(blob);
  });
}

/** @param {SVGElement} svg
    @param {{ width: number, height: number }} size
    @returns {Promise<Blob>} */
async function drawn(svg, { width, height }) {
  const source = new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
  const image = new Image();
  // A data: URL, because some browsers refuse to read a canvas drawn from a blob: URL.
  image.src = await dataUrl(source);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * SCALE;
  canvas.height = height * SCALE;
  const pen = getPen(canvas);
  pen.scale(SCALE, SCALE);
  pen.drawImage(image, 0, 0, width, height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
  });
}
