// Preact with htm and signals, under the names that the views use.
import { h, render } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);
export { render };
export { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
export { computed, effect, signal } from "../vendor/signals.js";
