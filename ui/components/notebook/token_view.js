// The tokens of a text in a notebook.

import mountView from "../token_view/view.js";
import { makeRender, readText } from "./notebook_view.js";

export default function makeWidget() {
  return { render: makeRender((parentElement, { data }) => mountView({ parentElement, data: JSON.parse(readText(data)) })) };
}
