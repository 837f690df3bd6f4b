// Draws the app's components on a page without Streamlit.

import { find } from "../../ui/components/shared/elements.js";

/** @import { Component } from "../../ui/components/shared/component.js" */

/** Draw a component into an element, or draw it again with other data.
    @template Data
    @param {HTMLElement} host
    @param {(component: Component<Data>) => unknown} mount The default export of the component's module.
    @param {Data} data
    @param {(name: string, value: unknown) => void} [hear] Hears what the app would tell Python. */
export function draw(host, mount, data, hear = () => {}) {
  mount({ data, parentElement: host.shadowRoot ?? addRoot(host), setStateValue: hear, setTriggerValue: hear });
}

/** Let the browser draw before the work goes on: on a phone each part of it takes a while. */
export function nextTask() {
  return new Promise((resolve) => setTimeout(resolve));
}

/** Give an element the shadow root of its component, with its styles.
    @param {HTMLElement} host */
function addRoot(host) {
  const root = host.attachShadow({ mode: "open" });
  const { content } = find(document, `template[data-parts-of="${host.dataset.component}"]`, HTMLTemplateElement);
  root.append(content.cloneNode(true));
  return root;
}
