// The feed of a session: its rows, what its agent writes now, and the ways to find something in it.
import { FeedLog } from "../lib/feed_log.js";
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { lastOf } from "../lib/row_words.js";
import { speech } from "../lib/store.js";
import { STRINGS } from "../lib/strings.js";
import { FeedBar } from "./feed_bar.js";
import { estimate, FeedRow, rowKind } from "./feed_row.js";
import { Exact, Guard } from "./parts.js";
import { VirtualList } from "./virtual_list.js";

/** @typedef {import("../lib/rows.js").Row} Row */

/** The sub-agent that a row belongs to; empty for what the agent itself did. @param {Row} row */
function subagentOf(row) {
  const actor = String(row.events[0].actor_id);
  return actor.startsWith("subagent:") ? actor.slice(9) : "";
}

/** The sub-agent whose start and stop a row is. @param {Row} row */
function startedBy(row) {
  const event = lastOf(row.events, "subagent.start", "subagent.stop");
  return event && event.data ? String(event.data.agent_id) : "";
}

/** The rows to show: what a sub-agent did is folded, but never what waits for a person.
 * @param {Row[]} rows @param {Set<string>} unfolded @param {boolean} all */
function visible(rows, unfolded, all) {
  /** @type {Map<string, number>} */
  const folded = new Map();
  if (all) return { shown: rows, folded };
  const started = new Set(rows.map(startedBy));
  const shown = rows.filter((row) => {
    const agent = subagentOf(row);
    if (!agent || !started.has(agent) || startedBy(row) || unfolded.has(agent)) return true;
    folded.set(agent, (folded.get(agent) || 0) + 1);
    return rowKind(row) === "waits";
  });
  return { shown, folded };
}

/** @param {{ session: any, wanted: number }} props */
export function Feed({ session, wanted }) {
  const id = session.session_id;
  const [log] = useState(() => new FeedLog(id));
  const [open, setOpen] = useState(() => new Set());
  const [unfolded, setUnfolded] = useState(() => new Set());
  const [current, setCurrent] = useState(0);
  const [marks, setMarks] = useState("");
  const [seen, setSeen] = useState({ stuck: true, at: 0 });
  const handle = useRef(/** @type {any} */ (null));
  const drawn = useRef(new WeakMap()).current;
  useEffect(() => log.open(), [log]);
  const version = log.version.value;
  const { shown, folded } = visible(log.rows.rows, unfolded, log.filter !== "all");
  const fresh = seen.stuck && !log.hasLater ? 0 : shown.filter((row) => row.key > seen.at).length;

  /** Show the row of an event. One that a link names is opened and gets the focus.
   * @param {number} seqNo @param {boolean} [linked] */
  async function goTo(seqNo, linked = false) {
    await log.goTo(seqNo);
    const all = log.rows.rows;
    const row = all.find((one) => one.events.some((event) => event.seq_no === seqNo)) || all.find((one) => one.key >= seqNo);
    if (!row) return;
    setCurrent(row.key);
    if (linked) setOpen((old) => new Set(old).add(row.key));
    const agent = subagentOf(row);
    if (agent) setUnfolded((old) => new Set(old).add(agent));
    requestAnimationFrame(() => {
      const now = visible(log.rows.rows, agent ? new Set([...unfolded, agent]) : unfolded, log.filter !== "all").shown;
      const index = now.indexOf(row);
      if (index >= 0) handle.current.show(index, linked);
    });
  }

  useEffect(() => {
    if (wanted) goTo(wanted, true);
  }, [wanted]);

  /** @param {Row} row */
  function toggle(row) {
    const agent = startedBy(row);
    const change = (/** @type {Set<any>} */ old, /** @type {any} */ key) => {
      const next = new Set(old);
      if (!next.delete(key)) next.add(key);
      return next;
    };
    if (agent) setUnfolded((old) => change(old, agent));
    else setOpen((old) => change(old, row.key));
  }

  /** A row that has not changed is the same as before. @param {Row} row @param {number} index */
  function draw(row, index) {
    const agent = startedBy(row);
    const isOpen = agent ? unfolded.has(agent) : open.has(row.key);
    const what = `${row.version} ${index} ${shown.length} ${isOpen} ${marks} ${folded.get(agent) || 0} ${current === row.key}`;
    const last = drawn.get(row);
    if (last && last.what === what) return last.made;
    const made = html`<${Guard} key=${row.key} of=${row.version}>
      <${FeedRow} ...${{ row, index, count: shown.length, open: isOpen, marks, session, folded: folded.get(agent) || 0, inside: Boolean(subagentOf(row)) && !agent, current: current === row.key, toggle: () => toggle(row) }} />
    <//>`;
    drawn.set(row, { what, made });
    return made;
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const step = event.key === "ArrowDown" || event.key === "j" ? 1 : event.key === "ArrowUp" || event.key === "k" ? -1 : 0;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "End") {
      event.preventDefault();
      return toEnd();
    }
    const target = /** @type {HTMLElement} */ (event.target);
    const own = /** @type {HTMLElement | null} */ (target.closest(".event"));
    if (!step || !own) return;
    const index = Number(own.dataset.index) + step;
    if (index < 0 || index >= shown.length) return;
    event.preventDefault();
    event.stopPropagation();
    const next = own.parentElement && /** @type {HTMLElement | null} */ (own.parentElement.querySelector(`[data-index="${index}"]`));
    if (next) next.focus();
    else handle.current.show(index, true);
  }

  async function toEnd() {
    if (log.hasLater) await log.goToEnd();
    handle.current.end();
  }

  const text = speech.value.get(id);
  const empty = !shown.length && !log.isLoading;
  return html`<div class="feed-view">
    <${FeedBar} ...${{ log, goTo, setMarks, at: (/** @type {number} */ step) => currentOf(log, step, current) }} />
    ${log.problem ? html`<p class="problem" role="alert"><${Exact} text=${log.problem} /> <button type="button" onClick=${() => log.goToEnd()}>${STRINGS.again}</button></p>` : null}
    <${VirtualList}
      ...${{ rows: shown, version, draw, estimate, label: STRINGS.feed, handle, onKeyDown: onKey, follows: !log.hasLater }}
      onStart=${() => log.loadEarlier()}
      onEnd=${() => log.loadLater()}
      onStuck=${(/** @type {boolean} */ stuck) => setSeen({ stuck, at: log.rows.last })}
      before=${log.hasEarlier ? html`<p class="fine more-rows">${STRINGS.loading}</p>` : shown.length ? html`<p class="fine more-rows">${log.filter === "all" ? STRINGS.feedStart : ""}</p>` : null}
      after=${html`${text && !log.hasLater ? html`<div class="speech" aria-live="off"><span class="who">${STRINGS.writes}</span><${Exact} text=${text} /></div>` : null}
        ${empty ? html`<div class="empty"><p>${log.filter === "all" ? STRINGS.feedEmpty : STRINGS.feedNone}</p></div>` : null}`}
    />
    ${fresh || log.hasLater
      ? html`<button type="button" class="fresh" onClick=${toEnd}>${log.hasLater ? STRINGS.toEnd : `${fresh} ${STRINGS.newEvents}`}</button>`
      : null}
    <p class="unseen-status" role="status">${fresh && !log.hasLater ? `${fresh} ${STRINGS.newOnes}` : ""}</p>
  </div>`;
}

/** The number from which the next or previous event is looked for: that of the focused row, of the one that was found last
 * while it is on screen, or of the last one on screen. @param {FeedLog} log @param {number} step @param {number} current */
function currentOf(log, step, current) {
  const focused = document.activeElement && /** @type {HTMLElement | null} */ (document.activeElement.closest(".event"));
  const box = document.querySelector(".feed");
  const bottom = box ? box.getBoundingClientRect().bottom : 0;
  const drawn = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".feed .event")]);
  const seen = drawn.filter((one) => one.getBoundingClientRect().top < bottom);
  const found = focused || seen.find((one) => Number(one.dataset.key) === current);
  const at = found || seen.pop();
  const row = at && log.rows.rows.find((one) => one.key === Number(at.dataset.key));
  if (!row) return log.rows.last + 1;
  const last = row.events[row.events.length - 1].seq_no;
  return step > 0 ? last : found ? row.key : last + 1;
}
