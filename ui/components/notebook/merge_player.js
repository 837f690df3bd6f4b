// The merge player in a notebook.

import { playSaved } from "../merge_player/saved_run.js";
import { makeRender, readText } from "./notebook_view.js";

export default function makeWidget() {
  return {
    render: makeRender((root, { run, merges, opened }) => playSaved(root, { run, merges, ...JSON.parse(readText(opened)) })),
  };
}
