// The service worker: it makes the page installable. It answers no request, so nothing that it keeps can be out of date.
const worker = /** @type {any} */ (self);
worker.addEventListener("install", () => worker.skipWaiting());
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));
