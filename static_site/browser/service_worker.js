// Keeps the site for use offline. `build.py` puts the version and the list of files before this script.

/** What `tsc` knows of a page is another `self`.
    @typedef {{ waitUntil: (done: Promise<unknown>) => void, respondWith: (answer: Promise<Response>) => void,
      request: Request }} WorkerEvent
    @typedef {{ addEventListener: (name: string, hear: (event: WorkerEvent) => void) => void, location: Location,
      clients: { claim: () => Promise<void> }, STORED: { version: string, files: string[] } }} OfflineWorker */

const worker = /** @type {OfflineWorker} */ (/** @type {unknown} */ (self));
const folder = new URL("./", worker.location.href).href;
// Another copy of the site can be at another path of the same host.
const PREFIX = `bpe-explorer ${folder} `;
const CACHE = PREFIX + worker.STORED.version;

worker.addEventListener("install", (event) => {
  event.waitUntil(Promise.all(worker.STORED.files.map(storeFile)));
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(dropOld().then(() => worker.clients.claim()));
});

worker.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(folder)) event.respondWith(answer(event.request));
});

/** @param {string} file */
async function storeFile(file) {
  const found = await fetch(file, { cache: "reload" });
  if (!found.ok) throw new Error(`${file}: ${found.status}`);
  const { body, headers } = found;
  const cache = await caches.open(CACHE);
  // A host may redirect a.html to a, and a browser shows no page that is stored as a redirected response.
  await cache.put(file, new Response(body, { headers }));
}

async function dropOld() {
  for (const name of await caches.keys()) if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
}

/** Answer from the cache, else from the network, whose answer is kept.
    @param {Request} request */
async function answer(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request, { ignoreSearch: true });
  if (kept) return kept;
  const found = await fetch(request);
  // Without room to store it, the answer is still good.
  if (found.ok && found.status === 200) await cache.put(new URL(request.url).pathname, found.clone()).catch(() => {});
  return found;
}
