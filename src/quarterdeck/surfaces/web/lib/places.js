// Where the cards are, so that a click or a key that was meant for something else allows nothing.
import { signal } from "./html.js";
import { STRINGS } from "./strings.js";

const STILL_FOR = 300;
const TYPING_PAUSE = 1000;
const FIELDS = "input, textarea, select";
const ALLOWING = "button.allow, button.danger";

/** Why a click on a card did nothing. */
export const hint = signal({ id: "", words: "" });

/** @type {WeakMap<Element, { top: number, left: number, since: number }>} */
const places = new WeakMap();
let typedAt = -Infinity;

/** Note where each card is now. @param {Element} list */
export function note(list) {
  const now = performance.now();
  for (const one of /** @type {Iterable<HTMLElement>} */ (list.children)) {
    const last = places.get(one);
    if (last && last.top === one.offsetTop && last.left === one.offsetLeft) continue;
    places.set(one, { top: one.offsetTop, left: one.offsetLeft, since: last ? now : -Infinity });
  }
}

/** Note every change of the places in this list. @param {Element} list @returns {() => void} the way to end it */
export function watch(list) {
  const observer = new ResizeObserver(() => note(list));
  observer.observe(list);
  const clicked = (/** @type {Event} */ event) => refuse(list, /** @type {MouseEvent} */ (event));
  const pressed = (/** @type {Event} */ event) => refuseHeld(/** @type {KeyboardEvent} */ (event));
  list.addEventListener("click", clicked, true);
  list.addEventListener("keydown", pressed, true);
  return () => {
    observer.disconnect();
    list.removeEventListener("click", clicked, true);
    list.removeEventListener("keydown", pressed, true);
  };
}

/** A click allows nothing when its card has just moved under the pointer, or when it ends a double click.
 * @param {Element} list @param {MouseEvent} event */
function refuse(list, event) {
  const target = /** @type {Element} */ (event.target);
  const card = /** @type {HTMLElement | null} */ (target.closest(".card"));
  if (!event.detail || !card || !target.closest(ALLOWING)) return; // a key presses a button with detail 0
  note(list);
  const place = places.get(card);
  const moved = place !== undefined && performance.now() - place.since < STILL_FOR;
  hint.value = moved ? { id: card.dataset.request || "", words: STRINGS.moved } : { id: "", words: "" };
  if (moved || event.detail > 1) {
    event.preventDefault();
    event.stopPropagation();
  }
}

/** A key that is held presses a button once. @param {KeyboardEvent} event */
function refuseHeld(event) {
  if (event.repeat && (event.key === "Enter" || event.key === " ") && /** @type {Element} */ (event.target).closest("button")) event.preventDefault();
}

/** Keep keys that were meant for a field which has just gone, as its request ended, from being taken for shortcuts. */
function keepTyping(/** @type {KeyboardEvent} */ event) {
  const target = /** @type {Element} */ (event.target);
  if (event.key === "Tab" || event.key === "Escape") typedAt = -Infinity;
  else if (target.closest(FIELDS)) typedAt = performance.now();
  else if (document.activeElement === document.body && performance.now() - typedAt < TYPING_PAUSE) {
    typedAt = performance.now();
    event.stopImmediatePropagation();
  }
}

addEventListener("keydown", keepTyping, true);
addEventListener("pointerdown", () => (typedAt = -Infinity), true);
