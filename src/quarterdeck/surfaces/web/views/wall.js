// The wall: every session as a tile that says what it does now, those that need a person first.
import { byPlace, follow, get, listen } from "../lib/connection.js";
import { html, signal, useEffect } from "../lib/html.js";
import { dataOf } from "../lib/row_keys.js";
import { subjectOf, toolName } from "../lib/row_words.js";
import { branchOf, go, loaded, machineOf, now, ordered, readProjects, requests } from "../lib/store.js";
import { STRINGS } from "../lib/strings.js";
import { age, cost, count, cut, flat, projectOf } from "../lib/text.js";
import { Exact, Guard, State } from "./parts.js";
import { filter, matches, SessionFilter } from "./sessions.js";

const MOST = 300;
const RECENT = 500;

/** The last thing that each session did. @type {import("../vendor/signals.js").Signal<Map<string, string>>} */
const doing = signal(new Map());

/** @param {any[]} events in the order of the log */
function note(events) {
  const next = new Map(doing.value);
  for (const event of events) {
    const data = dataOf(event);
    if (event.kind === "tool.pre") next.set(event.session_id, `${toolName(/** @type {any} */ (data))} ${cut(flat(subjectOf(data.tool_input)), 120)}`);
    else if (event.kind === "message.assistant" || event.kind === "user.prompt" || event.kind === "run.end") next.set(event.session_id, String(event.title));
  }
  doing.value = next;
}

/** Follows what the sessions do while the wall is shown. */
function useDoing() {
  useEffect(() => {
    readProjects();
    /** @type {any[]} */
    let gathered = [];
    let timer = 0;
    const stop = listen((message) => {
      if (message.type !== "event") return;
      gathered.push(message.event);
      timer ||= setTimeout(() => {
        note(gathered);
        gathered = [];
        timer = 0;
      }, 200);
    });
    const unfollow = follow(["feed"]);
    get(`/feed?limit=${RECENT}&before=${Number.MAX_SAFE_INTEGER}`).then((page) => note(page.events.map(byPlace)), () => {});
    return () => {
      stop();
      unfollow();
      clearTimeout(timer);
    };
  }, []);
}

/** @param {{ onStart: () => void }} props */
export function Wall({ onStart }) {
  useDoing();
  const found = ordered.value.filter(matches);
  const live = found.filter((one) => one.ended_at === null);
  const ended = found.filter((one) => one.ended_at !== null);
  return html`<main class="wall" aria-label=${STRINGS.sessions}>
    <header class="wall-head">
      <h1>${STRINGS.sessions} <span class="fine">${live.length || ""}</span></h1>
      <${SessionFilter} id="wall-filter" />
    </header>
    ${live.length
      ? html`<ul class="tiles">${live.slice(0, MOST).map((one) => html`<${Guard} key=${one.session_id} of=${one}><${Tile} session=${one} /><//>`)}</ul>`
      : loaded.value && !ended.length
        ? html`<div class="empty"><p>${STRINGS.noSessions}</p><p class="fine">${STRINGS.noSessionsHow}</p><p><button type="button" onClick=${onStart}>${STRINGS.start}</button></p></div>`
        : null}
    ${ended.length
      ? html`<details class="ended" open=${Boolean(filter.value)}>
          <summary>${STRINGS.ended} <span class="fine">${ended.length}</span></summary>
          <ul class="tiles">${ended.slice(0, MOST).map((one) => html`<${Guard} key=${one.session_id} of=${one}><${Tile} session=${one} /><//>`)}</ul>
        </details>`
      : null}
  </main>`;
}

/** @param {{ session: any }} props */
function Tile({ session }) {
  const branch = branchOf(session);
  const since = session.agent_state === "running" ? session.run_started_at : session.state_at;
  const waiting = [...requests.value.values()].find((one) => one.session_id === session.session_id && one.status === "pending");
  const task = session.todos.find((/** @type {any} */ one) => one.status === "doing");
  const last = waiting ? `${toolName(waiting)} ${cut(flat(subjectOf(waiting.tool_input)), 120)}` : doing.value.get(session.session_id) || "";
  const facts = [cost(session.usage), session.usage && session.usage.context_tokens ? count(session.usage.context_tokens) : "", session.mode, machineOf(session.runner_id)];
  return html`<li>
    <button type="button" class=${`tile state-of-${session.ended_at === null ? session.agent_state : "ended"}`} onClick=${() => go("session", session.session_id)}>
      <span class="line"><${State} session=${session} /><span class="fine">${since && session.ended_at === null ? age(now.value - since) : ""}</span></span>
      <span class="title"><${Exact} text=${session.title || session.session_id.slice(0, 8)} /></span>
      <span class="line where"><b><${Exact} text=${projectOf(session)} /></b>${branch ? html`<span class="fine">⎇ <${Exact} text=${branch} /></span>` : null}</span>
      <span class="now">${task ? html`<span class="task">▸ <${Exact} text=${task.text} /></span>` : null}${last ? html`<code><${Exact} text=${last} /></code>` : null}</span>
      <span class="line foot">
        <span class="fine">${facts.filter(Boolean).join(" · ")}</span>
        ${session.pending ? html`<b class="badge">${session.pending} ${session.pending === 1 ? STRINGS.pendingOne : STRINGS.pendingMany}</b>` : null}
      </span>
    </button>
  </li>`;
}
