// Registers the service worker, so that the page can be installed as an app, or says why it cannot.
import { signal } from "./html.js";
import { STRINGS } from "./strings.js";

/** Why this page cannot be installed; empty while that is not known, or if it can. */
export const notInstallable = signal("");

export async function install() {
  if (!isSecureContext || !navigator.serviceWorker) {
    notInstallable.value = STRINGS.notSecure;
    return;
  }
  try {
    await navigator.serviceWorker.register("/sw.js");
  } catch {
    notInstallable.value = STRINGS.notTrusted;
  }
}
