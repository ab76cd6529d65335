// The page: the desk, the wall of sessions, and one session.
import { connect, connection, get } from "./lib/connection.js";
import { html, render, signal, useEffect } from "./lib/html.js";
import { install } from "./lib/install.js";
import { go, pending, route } from "./lib/store.js";
import { KEYS, STRINGS } from "./lib/strings.js";
import { Desk, step } from "./views/desk.js";
import { Deck } from "./views/deck.js";
import { Device } from "./views/device.js";
import { Dialog } from "./views/dialog.js";
import { Banner, Header, SignedOut } from "./views/header.js";
import { Many } from "./views/many.js";
import { Guard } from "./views/parts.js";
import { SessionView } from "./views/session.js";
import { Sessions, StartDialog } from "./views/sessions.js";
import { Wall } from "./views/wall.js";

/** The dialog that is open: help, start, many, or none. */
const open = signal("");
/** A device that was paired as a deck shows nothing else. */
const isDeck = signal(false);
const close = () => void (open.value = "");

/** @type {Record<string, () => void>} */
const SHORTCUTS = {
  "?": () => (open.value = "help"),
  s: () => (open.value = "start"),
  m: () => (open.value = "many"),
  j: () => step(1),
  k: () => step(-1),
  g: () => go(),
  w: () => go("sessions"),
  c: () => go("deck"),
  n: nextRequest,
  "/": () => {
    const found = ["feed-search", "wall-filter", "filter"].map((id) => document.getElementById(id)).find((one) => one && one.offsetParent);
    if (found) found.focus();
  },
};

/** @param {KeyboardEvent} event */
function onKey(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || open.value || target.closest("input, textarea, select")) return;
  if (!Object.hasOwn(SHORTCUTS, event.key)) return;
  SHORTCUTS[event.key]();
  event.preventDefault();
}

function nextRequest() {
  if (!pending.value.length) return;
  const list = document.getElementById("requests");
  if (!list || !list.offsetParent) go();
  requestAnimationFrame(() => step(1));
}

function Help() {
  return html`<${Dialog} title=${STRINGS.help} close=${close} wide=${true}>
    <div class="key-groups">${KEYS.map(([name, keys]) => html`<section><h3>${name}</h3>
      <dl class="keys">${keys.map(([key, words]) => html`<dt><kbd>${key}</kbd></dt><dd>${words}</dd>`)}</dl></section>`)}</div>
    <${Device} />
  <//>`;
}

function App() {
  useEffect(() => {
    addEventListener("keydown", onKey);
    get("/me").then((me) => (isDeck.value = me.kind === "deck"), () => {});
    return () => removeEventListener("keydown", onKey);
  }, []);
  if (connection.value === "signed-out") return html`<${SignedOut} />`;
  if (isDeck.value) return html`<div class="page at-deck alone"><${Banner} /><${Guard}><${Deck} /><//></div>`;
  const [view, id] = route.value;
  const inside = view === "session" && id ? "session" : view === "sessions" || view === "deck" ? view : "desk";
  const start = () => void (open.value = "start");
  return html`<div class=${`page at-${inside}`}>
    <${Guard}><${Header} ...${{ inside, onStart: start, onHelp: () => void (open.value = "help") }} /><//>
    <${Banner} />
    ${inside === "deck" ? html`<${Guard}><${Deck} /><//>` : html`<div class="columns">
      ${inside === "sessions" ? html`<${Guard}><${Wall} onStart=${start} /><//>` : html`<${Guard}><${Sessions} /><//>`}
      ${inside === "session" ? html`<${Guard} key=${id}><${SessionView} sessionId=${id} /><//>` : null}
      <${Guard}><${Desk} main=${inside === "desk"} onMany=${() => void (open.value = "many")} /><//>
    </div>`}
    <nav class="tabs" aria-label=${STRINGS.views}>
      <button type="button" aria-current=${inside === "desk" ? "page" : "false"} onClick=${() => go()}>${STRINGS.desk}${pending.value.length ? html` <b>${pending.value.length}</b>` : null}</button>
      <button type="button" aria-current=${inside === "sessions" || inside === "session" ? "page" : "false"} onClick=${() => go("sessions")}>${STRINGS.sessions}</button>
      <button type="button" aria-current=${inside === "deck" ? "page" : "false"} onClick=${() => go("deck")}>${STRINGS.deck}</button>
    </nav>
    ${open.value === "help" ? html`<${Help} />` : open.value === "start" ? html`<${StartDialog} close=${close} />` : open.value === "many" ? html`<${Many} close=${close} />` : null}
  </div>`;
}

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
root.replaceChildren();
render(html`<${App} />`, root);
connect();
install();
