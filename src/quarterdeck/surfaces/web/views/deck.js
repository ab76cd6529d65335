// The key deck: it draws the model of the daemon, and sends presses back with what the key showed.
import { command, follow, get, listen } from "../lib/connection.js";
import { html, signal, useEffect, useRef, useState } from "../lib/html.js";
import { GLYPHS, STATE_WORDS } from "../lib/labels.js";
import { kept } from "../lib/shapes.js";
import { now } from "../lib/store.js";
import { STRINGS } from "../lib/strings.js";
import { age } from "../lib/text.js";
import { Exact } from "./parts.js";

/** How long a key with a ring is held. */
const HOLD = 700;
/** A key that decides does nothing for this long after it has changed. */
const STILL_FOR = 300;

/** @type {import("../vendor/signals.js").Signal<any>} */
const model = signal(null);
const note = signal("");
/** What each key showed, and since when. @type {Map<number, { revision: string, since: number }>} */
const shown = new Map();
/** The request whose input was on screen to its end. */
const seen = signal("");

/** @param {any} next */
function receive(next) {
  for (const key of next.keypad.slots) {
    const last = shown.get(key.slot);
    if (!last || last.revision !== key.revision) shown.set(key.slot, { revision: key.revision, since: last ? performance.now() : -Infinity });
  }
  model.value = next;
}

/** @param {string} name @param {any} args */
async function send(name, args) {
  note.value = "";
  try {
    await command(name, args);
  } catch (error) {
    note.value = /** @type {Error} */ (error).message;
  }
}

/** @param {any} key */
function justChanged(key) {
  const last = shown.get(key.slot);
  return key.request_id !== null && last !== undefined && performance.now() - last.since < STILL_FOR;
}

/** Press a key as it was when the press began. @param {any} key @param {boolean} held */
function press(key, held) {
  if (key.action === "allow" && seen.value !== key.request_id) note.value = STRINGS.readFirst;
  else if (justChanged(key)) note.value = STRINGS.deckChanged;
  else send("keypad_press", { slot: key.slot, revision: key.revision, held });
}

/** @param {string} name */
const button = (name) => send("dialpad_button_press", { button: name });
/** @param {string} direction */
const turn = (direction) => send("page_nav", { direction });
/** @param {number} delta */
const roll = (delta) => send("adjustment", { kind: "roller", delta });

export function Deck() {
  useEffect(() => {
    const stop = listen((message) => message.type === "render" && receive(message.model));
    const unfollow = follow(["render"]);
    get("/deck").then((found) => model.value || receive(found), (error) => (note.value = error.message));
    return () => {
      stop();
      unfollow();
    };
  }, []);
  const holds = useHolds();
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const found = model.value;
  // The keys of the keyboard are those of the deck at once, and not of the button that led here.
  useEffect(() => main.current?.focus(), [found === null]);
  if (!found) return html`<main class="deck loading">${note.value || STRINGS.loading}</main>`;
  return html`<main class="deck" ref=${main} tabindex="-1" aria-label=${STRINGS.deck}>
    <${Head} found=${found} />
    <div class="deck-body">
      <section class="deck-device" aria-label=${STRINGS.keys}>
        <div class="keypad">${found.keypad.slots.map((/** @type {any} */ key) => html`<${Key} key=${key.slot} one=${key} holds=${holds} />`)}</div>
        <div class="deck-row">
          <button type="button" class="quiet" aria-label=${STRINGS.pageBefore} onClick=${() => turn("prev")}>‹</button>
          <span class="fine">${STRINGS.page} ${found.page_index + 1} / ${found.page_count}${found.page_name ? html` · <${Exact} text=${found.page_name} />` : null}</span>
          <button type="button" class="quiet" aria-label=${STRINGS.pageAfter} onClick=${() => turn("next")}>›</button>
        </div>
        <div class="deck-buttons">${Object.entries(found.buttons).map(([name, one]) => html`<${DialButton} key=${name} name=${name} one=${one} />`)}</div>
        <div class="deck-row roller">
          <button type="button" class="quiet" aria-label=${STRINGS.rollBack} disabled=${!found.dial.roller.enabled} onClick=${() => roll(-1)}>◀</button>
          <span class="fine">${found.selected ? html`<${Exact} text=${found.selected.name} />` : found.dial.roller.enabled ? STRINGS.rollerSelects : STRINGS.rollerEmpty}</span>
          <button type="button" class="quiet" aria-label=${STRINGS.rollOn} disabled=${!found.dial.roller.enabled} onClick=${() => roll(1)}>▶</button>
        </div>
      </section>
      <section class="deck-side" aria-label=${STRINGS.deckRequest}>
        ${found.problem ? html`<p class="problem" role="alert"><${Exact} text=${found.problem} /></p>` : null}
        ${note.value ? html`<p class="problem" role="alert"><${Exact} text=${note.value} /></p>` : null}
        <${Armed} found=${found} />
        <${Request} found=${found} />
      </section>
    </div>
  </main>`;
}

/** @param {{ found: any }} props */
function Head({ found }) {
  const state = found.state;
  const word = kept(STATE_WORDS, found.agent_state, found.agent_state);
  return html`<header class="deck-head">
    <b class=${`deck-state in-${found.agent_state}`}><span aria-hidden="true">${kept(GLYPHS, found.agent_state, "·")}</span> ${word}</b>
    <span class="deck-where">${state.session_id ? html`<b><${Exact} text=${state.project} /></b> <${Exact} text=${state.title} />` : STRINGS.deckNoSession}</span>
    <span class="fine">${state.since ? `${age(now.value - state.since)} · ` : ""}${found.hooks_mode === "active" ? STRINGS.hooksActive : STRINGS.hooksAbsent}</span>
    <button type="button" class="quiet" onClick=${fullScreen}>${STRINGS.fullScreen}</button>
  </header>`;
}

function fullScreen() {
  const change = document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen();
  change.catch((error) => (note.value = error.message));
}

/** A key that is held down: its slot, or -1. A press begins with what the key showed then. */
function useHolds() {
  const [slot, setSlot] = useState(-1);
  const timer = useRef(0);
  const stop = () => {
    clearTimeout(timer.current);
    setSlot(-1);
  };
  const start = (/** @type {any} */ key) => {
    clearTimeout(timer.current);
    note.value = "";
    setSlot(key.slot);
    timer.current = setTimeout(() => {
      setSlot(-1);
      press(key, true);
    }, HOLD);
  };
  const down = (/** @type {any} */ key) => (key.hold ? start(key) : press(key, false));
  useDeckKeys(down, stop);
  useEffect(() => stop, []);
  return { slot, start, stop, down };
}

/** The keyboard: digits press, Enter and Esc are the buttons. @param {(key: any) => void} down @param {() => void} up */
function useDeckKeys(down, up) {
  const latest = useRef({ down, up });
  latest.current = { down, up };
  useEffect(() => {
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      const target = /** @type {Element} */ (event.target);
      if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select, dialog")) return;
      if (event.key >= "1" && event.key <= "9" && model.value) {
        const key = model.value.keypad.slots[Number(event.key) - 1];
        if (key.enabled) latest.current.down(key);
        else note.value = key.reason || "";
      } else if (event.key === "[") turn("prev");
      else if (event.key === "]") turn("next");
      else if (event.key === "Enter" && !target.closest("button, a, summary")) button("enter");
      else if (event.key === "Escape") button("esc");
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    const released = () => latest.current.up();
    addEventListener("keydown", pressed, true);
    addEventListener("keyup", released);
    addEventListener("blur", released);
    return () => {
      removeEventListener("keydown", pressed, true);
      removeEventListener("keyup", released);
      removeEventListener("blur", released);
    };
  }, []);
}

/** @param {{ one: any, holds: any }} props */
function Key({ one, holds }) {
  if (one.kind === "empty") return html`<span class="key empty" aria-hidden="true"></span>`;
  const held = holds.slot === one.slot;
  const classes = `key of-${one.colour}${one.armed ? " armed" : ""}${one.hold ? " holds" : ""}${held ? " held" : ""}`;
  const hold = {
    onPointerDown: (/** @type {PointerEvent} */ event) => event.button === 0 && one.enabled && holds.start(one),
    onPointerUp: holds.stop,
    onPointerLeave: holds.stop,
    onPointerCancel: holds.stop,
    onContextMenu: (/** @type {Event} */ event) => event.preventDefault(),
    onKeyDown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      if (!event.repeat && one.enabled) holds.start(one);
    },
  };
  const click = { onClick: (/** @type {MouseEvent} */ event) => one.enabled && event.detail < 2 && press(one, false) };
  return html`<button type="button" class=${classes} data-action=${one.action || one.prompt_id} aria-pressed=${one.armed} aria-disabled=${!one.enabled} title=${one.reason || ""} ...${one.hold ? hold : click}>
    ${one.hold ? html`<svg class="ring" viewBox="0 0 40 40" aria-hidden="true"><circle cx="20" cy="20" r="17" /></svg>` : null}
    <span class="glyph" aria-hidden="true">${one.glyph}</span>
    <span class="label"><${Exact} text=${one.label} /></span>
    <span class="sub fine"><${Exact} text=${one.hold && one.enabled ? STRINGS.holdIt : one.sublabel} /></span>
  </button>`;
}

/** @param {{ name: string, one: any }} props */
function DialButton({ name, one }) {
  return html`<button type="button" aria-disabled=${!one.enabled} title=${one.reason || one.does} onClick=${() => (one.enabled ? button(name) : (note.value = one.reason))}>${one.label}</button>`;
}

/** @param {{ found: any }} props */
function Armed({ found }) {
  const last = found.dispatch;
  const failed = last && last.outcome === "undelivered" ? html`<p class="problem"><${Exact} text=${`${STRINGS.undelivered} ${last.reason || ""}`} /></p>` : null;
  if (!found.armed) return failed;
  return html`<div class="deck-armed">
    <p><b>▶ <${Exact} text=${found.armed.label} /></b> <span class="fine">${last && last.outcome === "sending" ? STRINGS.sending : STRINGS.armedHow}</span></p>
    <pre><${Exact} text=${found.armed.command} /></pre>
    ${failed}
  </div>`;
}

/** @param {{ found: any }} props */
function Request({ found }) {
  const request = found.request;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const look = () => {
    const one = box.current;
    if (request && one && one.scrollTop + one.clientHeight >= one.scrollHeight - 4) seen.value = request.request_id;
  };
  useEffect(look, [request && request.request_id, request && request.detail]);
  if (!request) return html`<p class="empty">${STRINGS.nothingWaits}</p>`;
  return html`<article class=${`deck-request is-${request.risk}`}>
    <p><b><${Exact} text=${request.tool_name} /></b> <span class=${`risk ${request.risk}`}>${request.mark} ${request.risk}</span>${" "}
      <span class="fine"><${Exact} text=${request.project} /> · ${request.position} / ${found.waiting_count} · ${age(now.value - request.opened_at)}</span></p>
    <pre ref=${box} onScroll=${look} tabindex="0"><${Exact} text=${request.detail} /></pre>
    ${request.reasons.map((/** @type {string} */ one) => html`<p class="fine">${request.mark || "·"} <${Exact} text=${one} /></p>`)}
    ${request.hides.map((/** @type {string} */ one) => html`<p class="problem"><${Exact} text=${one} /></p>`)}
    ${request.options.length ? html`<ol class="deck-options">${request.options.map((/** @type {string} */ one) => html`<li><${Exact} text=${one} /></li>`)}</ol>` : null}
    ${request.always ? html`<p class="deck-rule">∞ ${STRINGS.allowMakes} <code><${Exact} text=${request.pattern || STRINGS.noSafeRule} /></code></p>` : null}
  </article>`;
}
