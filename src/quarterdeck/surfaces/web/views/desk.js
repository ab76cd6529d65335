// The desk: every request of every session, one card after another; on a phone one at a time.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/html.js";
import { note, watch } from "../lib/places.js";
import { desk, loaded, pending, route } from "../lib/store.js";
import { STRINGS } from "../lib/strings.js";
import { Card } from "./card.js";
import { Guard } from "./parts.js";

/** Cards that are drawn at first, and again each time that the end of them comes near. */
const DRAWN = 20;

/** Move the focus to another card. @param {number} step */
export function step(step) {
  const cards = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".desk .card")]);
  if (!cards.length) return;
  const at = cards.findIndex((one) => one.contains(document.activeElement));
  const next = cards[Math.min(cards.length - 1, Math.max(0, at + step))];
  next.scrollIntoView({ block: "nearest" });
  next.focus();
}

/** @type {WeakMap<any, { current: boolean, card: any }>} */
const cards = new WeakMap();

/** The card of a request. One that has not changed is the same as before, so that a thousand are not drawn again for
 * each change of one. @param {any} request @param {boolean} current */
function drawn(request, current) {
  const last = cards.get(request);
  if (last && last.current === current) return last.card;
  const card = html`<${Guard} key=${request.request_id} of=${request} words=${STRINGS.brokenCard}><${Card} request=${request} current=${current} /><//>`;
  cards.set(request, { current, card });
  return card;
}

/** @param {{ main: boolean, onMany: () => void }} props */
export function Desk({ main, onMany }) {
  const all = desk.value;
  const wanted = route.value[0] === "request" ? route.value[1] : "";
  const first = useRef("");
  const list = useRef(/** @type {any} */ (null));
  const [at, setAt] = useState(0);
  /** Which card a phone shows. */
  const scrolled = () => setAt(Math.round(list.current.scrollLeft / Math.max(1, list.current.clientWidth)));
  const turn = (/** @type {number} */ by) => list.current.scrollBy({ left: by * list.current.clientWidth });
  const [limit, setLimit] = useState(DRAWN);
  const shown = all.slice(0, Math.max(limit, 1 + all.findIndex((one) => one.request_id === wanted)));
  const rest = all.length - shown.length;
  useEffect(() => {
    if (!rest) return;
    const observer = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && setLimit(limit + DRAWN), { rootMargin: "800px" });
    observer.observe(list.current.lastElementChild);
    return () => observer.disconnect();
  }, [limit, rest > 0]);
  useLayoutEffect(() => note(list.current));
  useEffect(() => watch(list.current), []);
  useEffect(() => {
    if (!wanted || first.current === wanted) return;
    const found = document.querySelector(`[data-request="${CSS.escape(wanted)}"]`);
    if (!found) return;
    first.current = wanted;
    found.scrollIntoView();
    /** @type {HTMLElement} */ (found).focus();
  });
  const head = html`${STRINGS.desk} <span class="fine">${all.length || ""}</span>`;
  return html`<${main ? "main" : "aside"} class="desk" aria-label=${STRINGS.desk} id="desk">
    <header class="desk-head">
      ${main ? html`<h1>${head}</h1>` : html`<h2>${head}</h2>`}
      ${all.length > 1
        ? html`<span class="turn">
            <button type="button" class="quiet icon" aria-label=${STRINGS.previous} onClick=${() => turn(-1)}>‹</button>
            ${Math.min(at + 1, all.length)} / ${all.length}
            <button type="button" class="quiet icon" aria-label=${STRINGS.next} onClick=${() => turn(1)}>›</button>
          </span>`
        : null}
      ${pending.value.length > 1 ? html`<button type="button" class="quiet" onClick=${onMany}>${STRINGS.many}</button>` : null}
    </header>
    <div class=${`cards ${all.length ? "" : "none"}`} id="requests" ref=${list} onScroll=${scrolled}>
      ${all.length
        ? [...shown.map((request, n) => drawn(request, wanted ? request.request_id === wanted : n === 0)), rest ? html`<p key="rest" class="fine rest">${rest} ${STRINGS.moreParts}</p>` : null]
        : loaded.value
          ? html`<div class="empty"><p>${STRINGS.nothingWaits}</p><p class="fine">${STRINGS.nothingWaitsHow}</p></div>`
          : null}
    </div>
  <//>`;
}

