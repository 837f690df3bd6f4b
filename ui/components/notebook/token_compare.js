// One text under several tokenizers in a notebook.

import mountCompare from "../token_view/compare.js";
import { makeRender, readText } from "./notebook_view.js";

export default function makeWidget() {
  return { render: makeRender((parentElement, { data }) => mountCompare({ parentElement, data: JSON.parse(readText(data)) })) };
}
