// Loads the site's data: scripts, since a page that was opened from a folder may load no other files.

import { unzip } from "../../ui/components/shared/base64.js";

/** @typedef {typeof globalThis & { storedData?: Record<string, string[]> }} WithData */

/** Return the messages of a file in the folder `data`, which `data_script` in `build.py` wrote.
    @param {string} name
    @returns {Promise<Uint8Array[]>} */
export async function loadData(name) {
  const script = document.createElement("script");
  script.src = `data/${name}.js`;
  await new Promise((resolve, reject) => {
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error("The data of this page could not be loaded. Check the connection, then reload the page.")));
    document.head.append(script);
  });
  const { storedData } = /** @type {WithData} */ (globalThis);
  return Promise.all((storedData?.[name] ?? []).map(unzip));
}
