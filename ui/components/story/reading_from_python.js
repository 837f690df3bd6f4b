// Delivers what a model is given of the visitor's sentence, apart from the scenes' own data, so that those are not
// sent again with each sentence.

import { deliver } from "./reading.js";

/** @import { Component } from "../shared/component.js"
    @import { Reading } from "./reading.js" */

/** @param {Component<Reading>} component */
export default function mountReading({ data }) {
  deliver(data);
}
