// The top of the page: who waits, and whether the page is connected.
import { connection, notice, post } from "../lib/connection.js";
import { forgetDrafts } from "../lib/drafts.js";
import { html, signal } from "../lib/html.js";
import { go, ordered, pending } from "../lib/store.js";
import { STRINGS, THEME_WORDS } from "../lib/strings.js";
import { Exact, Menu } from "./parts.js";

const THEMES = ["auto", "light", "dark", "contrast"];
const kept = localStorage.getItem("theme") || "";
const theme = signal(THEMES.includes(kept) ? kept : "auto");
document.documentElement.dataset.theme = theme.value;

function nextTheme() {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
  localStorage.setItem("theme", theme.value);
  document.documentElement.dataset.theme = theme.value;
}

async function signOut() {
  await post("/logout", {});
  forgetDrafts("");
  location.reload();
}

/** @param {{ inside: string, onHelp: () => void, onStart: () => void }} props */
export function Header({ inside, onHelp, onStart }) {
  const running = ordered.value.filter((session) => session.agent_state === "running").length;
  const waits = pending.value.length;
  document.title = waits ? `(${waits}) ${STRINGS.title}` : STRINGS.title;
  const state = connection.value;
  return html`<header class="top">
    <a class="brand" href="#/" aria-label=${STRINGS.title}><img src="/icon.svg" alt="" width="24" height="24" /><span>${STRINGS.title}</span></a>
    <nav class="views" aria-label=${STRINGS.views}>
      <button type="button" aria-current=${inside === "desk" ? "page" : "false"} onClick=${() => go()}>${STRINGS.desk}${waits ? html` <b class="badge">${waits}</b>` : null}</button>
      <button type="button" aria-current=${inside === "sessions" || inside === "session" ? "page" : "false"} onClick=${() => go("sessions")}>${STRINGS.sessions}</button>
      <button type="button" aria-current=${inside === "deck" ? "page" : "false"} onClick=${() => go("deck")}>${STRINGS.deck}</button>
    </nav>
    <p class="counts" aria-live="polite">
      <span class="running">${running} ${STRINGS.running}</span>
      <span class=${waits ? "waits" : ""}>${waits} ${waits === 1 ? STRINGS.waitsForYou : STRINGS.waitForYou}</span>
      <span class=${`link-state ${state}`}>${state === "live" ? STRINGS.live : state === "away" ? STRINGS.notConnected : STRINGS.connecting}</span>
    </p>
    <div class="tools">
      <button type="button" class="start" onClick=${onStart}>${STRINGS.start}</button>
      <${Menu} words=${STRINGS.menu}>
        <button type="button" class="quiet" onClick=${nextTheme}>${STRINGS.theme}: ${THEME_WORDS[theme.value]}</button>
        <button type="button" class="quiet" onClick=${onHelp}>${STRINGS.help}</button>
        <button type="button" class="quiet" id="logout" onClick=${signOut}>${STRINGS.signOut}</button>
      <//>
    </div>
  </header>`;
}

/** The connection when it is not live, and what the daemon says about the page. */
export function Banner() {
  const state = connection.value;
  const words = [notice.value, state === "away" ? STRINGS.away : state === "live" ? "" : STRINGS.connecting].filter(Boolean).join(" ");
  return words ? html`<p class="banner" role="status"><${Exact} text=${words} /></p>` : null;
}

export function SignedOut() {
  return html`<main class="signed-out">
    <h1>${STRINGS.title}</h1>
    <p id="state">${STRINGS.signedOut}</p>
    <p>${STRINGS.signedOutHow}</p>
    <pre>${STRINGS.signedOutCommand}</pre>
  </main>`;
}
