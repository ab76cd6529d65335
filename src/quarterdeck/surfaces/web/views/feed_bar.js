// Above the feed: what it is reduced to, search with marked hits, and jumps to prompts, decisions, errors and times.
import { FILTERS } from "../lib/feed_log.js";
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { FILTER_WORDS, JUMP_WORDS, STRINGS } from "../lib/strings.js";
import { Exact, Menu } from "./parts.js";

const TYPING = 250;

/** @param {{ log: import("../lib/feed_log.js").FeedLog, goTo: (seqNo: number, opened?: boolean) => void, setMarks: (words: string) => void,
 *   at: (step: number) => number }} props */
export function FeedBar({ log, goTo, setMarks, at }) {
  const [words, setWords] = useState("");
  const [hits, setHits] = useState(/** @type {number[] | null} */ (null));
  const [hit, setHit] = useState(0);
  const [notice, setNotice] = useState("");
  const [filter, setFilter] = useState(log.filter);
  const turn = useRef(0);

  useEffect(() => {
    const own = (turn.current += 1);
    setNotice("");
    if (!words.trim()) {
      setHits(null);
      setMarks("");
      return;
    }
    const timer = setTimeout(async () => {
      try {
        const found = await log.search(words);
        if (own !== turn.current) return;
        setHits(found);
        setMarks(words);
        setHit(found.length - 1);
        if (found.length) goTo(found[found.length - 1]);
      } catch (error) {
        if (own === turn.current) setNotice(/** @type {Error} */ (error).message);
      }
    }, TYPING);
    return () => clearTimeout(timer);
  }, [words]);

  /** @param {number} step */
  function move(step) {
    if (!hits || !hits.length) return;
    const next = (hit + step + hits.length) % hits.length;
    setHit(next);
    goTo(hits[next]);
  }

  /** @param {string} to @param {number} step */
  async function jump(to, step) {
    setNotice("");
    try {
      const found = await log.find(to, at(step), step);
      if (found === null) setNotice(step < 0 ? STRINGS.noEarlier : STRINGS.noLater);
      else goTo(found);
    } catch (error) {
      setNotice(/** @type {Error} */ (error).message);
    }
  }

  /** @param {any} event */
  async function toTime(event) {
    const time = new Date(event.target.value).getTime() / 1000;
    if (Number.isNaN(time)) return;
    const found = await log.findTime(time);
    if (found === null) setNotice(STRINGS.noLater);
    else goTo(found);
  }

  return html`<div class="feed-bar">
    <div class="chips" role="group" aria-label=${STRINGS.filterFeed}>
      ${Object.keys(FILTERS).map((name) => html`<button type="button" class="chip" aria-pressed=${filter === name} onClick=${() => { setFilter(name); log.setFilter(name); }}>${FILTER_WORDS[name]}</button>`)}
    </div>
    <div class="find">
      <input id="feed-search" type="search" placeholder=${STRINGS.search} aria-label=${STRINGS.search} value=${words} onInput=${(/** @type {any} */ event) => setWords(event.target.value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && (event.preventDefault(), move(event.shiftKey ? 1 : -1))} />
      ${hits
        ? html`<span class="fine hits" role="status">${hits.length ? `${hit + 1} / ${hits.length}` : STRINGS.noHits}</span>
            <button type="button" class="quiet icon" aria-label=${STRINGS.hitBefore} disabled=${!hits.length} onClick=${() => move(-1)}>↑</button>
            <button type="button" class="quiet icon" aria-label=${STRINGS.hitAfter} disabled=${!hits.length} onClick=${() => move(1)}>↓</button>`
        : null}
    </div>
    <${Menu} words=${STRINGS.jump}>
        ${Object.entries(JUMP_WORDS).map(([name, one]) => html`<p class="line"><span>${one}</span>
          <span><button type="button" class="quiet icon" aria-label=${`${STRINGS.previous}: ${one}`} onClick=${() => jump(name, -1)}>↑</button>
          <button type="button" class="quiet icon" aria-label=${`${STRINGS.next}: ${one}`} onClick=${() => jump(name, 1)}>↓</button></span></p>`)}
        <label>${STRINGS.jumpTime} <input type="datetime-local" step="1" onChange=${toTime} /></label>
    <//>
    ${notice ? html`<p class="fine notice" role="status"><${Exact} text=${notice} /></p>` : null}
  </div>`;
}
