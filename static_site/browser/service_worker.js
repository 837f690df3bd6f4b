// Keeps the site for use offline. `build.py` puts the version and the list of files before this script.

/** What `tsc` knows of a page is another `self`.
    @typedef {{ waitUntil: (done: Promise<unknown>) => void, respondWith: (answer: Promise<Response>) => void,
      request: Request }} WorkerEvent
    @typedef {{ addEventListener: (name: string, hear: (event: WorkerEvent) => void) => void, location: Location,
      clients: { claim: () => Promise<void> }, STORED: { version: string, files: string[] } }} OfflineWorker */

const worker = /** @type {OfflineWorker} */ (/** @type {unknown} */ (self));
const PREFIX = "bpe-explorer-";
const CACHE = PREFIX + worker.STORED.version;

worker.addEventListener("install", (event) => {
  const requests = worker.STORED.files.map((file) => new Request(file, { cache: "reload" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(requests)));
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(dropOld().then(() => worker.clients.claim()));
});

worker.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const folder = new URL("./", worker.location.href).href;
  if (method === "GET" && url.startsWith(folder)) event.respondWith(answer(event.request));
});

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
  if (found.ok && found.status === 200) await cache.put(new URL(request.url).pathname, found.clone());
  return found;
}
