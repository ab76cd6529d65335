// One session: what it is, its meters and to-dos, its feed, and what a person can do with it.
import { get } from "../lib/connection.js";
import { html, useEffect, useState } from "../lib/html.js";
import { address, branchOf, go, machineOf, now, readProjects, route, sessions } from "../lib/store.js";
import { STRINGS } from "../lib/strings.js";
import { age, cost, count, projectOf, spelled } from "../lib/text.js";
import { Composer } from "./composer.js";
import { Feed } from "./feed.js";
import { CopyButton, Exact, State } from "./parts.js";

/** @param {{ sessionId: string }} props */
export function SessionView({ sessionId }) {
  const session = sessions.value.get(sessionId);
  const [known, setKnown] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let live = true;
    readProjects();
    get(`/sessions/${encodeURIComponent(sessionId)}`).then(
      (one) => live && setKnown(one),
      (error) => live && setProblem(error.message)
    );
    return () => { live = false; };
  }, [sessionId]);
  const shown = session || known;
  if (!shown)
    return html`<main class="main session-view">
      <div class="empty"><p><${Exact} text=${problem || STRINGS.loading} /></p><p><button type="button" onClick=${() => go("sessions")}>${STRINGS.back}</button></p></div>
    </main>`;
  const wanted = Number(route.value[2]) || 0;
  return html`<main class="main session-view" aria-label=${spelled(projectOf(shown))}>
    <${Head} session=${shown} />
    <${Feed} key=${sessionId} session=${shown} wanted=${wanted} />
    <${Composer} key=${`c${sessionId}`} session=${{ ...shown, where: known && known.where }} />
  </main>`;
}

/** @param {{ session: any }} props */
function Head({ session }) {
  const branch = branchOf(session);
  const machine = machineOf(session.runner_id);
  const problem = session.last_error || session.retrying;
  const running = session.agent_state === "running" && session.run_started_at ? age(now.value - session.run_started_at) : "";
  const facts = [branch && `⎇ ${branch}`, session.agent, session.model, session.mode, session.permission_mode, machine].filter(Boolean);
  return html`<header class="head">
    <p class="crumbs">
      <button type="button" class="link back" onClick=${() => go("sessions")}>← ${STRINGS.back}</button>
      <${CopyButton} text=${() => address("session", session.session_id)} words=${STRINGS.copyLink} />
    </p>
    <h1><span class="name"><${Exact} text=${session.title || projectOf(session)} /></span> <${State} session=${session} /></h1>
    <p class="facts">
      <b><${Exact} text=${projectOf(session)} /></b>
      ${facts.map((one) => html`<span class="fact"><${Exact} text=${one} /></span>`)}
      ${session.runs ? html`<span class="fact">${STRINGS.run} ${session.runs}${running ? ` · ${running}` : ""}</span>` : null}
    </p>
    <p class="fine path"><${Exact} text=${session.cwd} /></p>
    ${problem ? html`<p class="problem"><${Exact} text=${problem} /></p>` : null}
    <${Meters} session=${session} />
    <${Todos} todos=${session.todos} />
  </header>`;
}

/** Numbers about a session: each only when it is known. @param {{ session: any }} props */
function Meters({ session }) {
  const { usage, counters } = session;
  const tokens = usage ? usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens : 0;
  const shown = [
    [STRINGS.cost, cost(usage)],
    [STRINGS.tokens, tokens ? count(tokens) : ""],
    [STRINGS.context, usage && usage.context_tokens ? count(usage.context_tokens) : ""],
    [STRINGS.calls, counters.tool_uses ? `${counters.tool_uses}${counters.tool_failures ? ` · ${counters.tool_failures} ${STRINGS.failed}` : ""}` : ""],
  ].filter(([, value]) => value);
  if (!shown.length) return null;
  return html`<dl class="meters">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

const TODO_SIGNS = /** @type {Record<string, string>} */ ({ done: "✓", doing: "▸" });

/** @param {{ todos: any[] }} props */
function Todos({ todos }) {
  if (!todos.length) return null;
  const done = todos.filter((one) => one.status === "done").length;
  const doing = todos.find((one) => one.status === "doing");
  return html`<details class="todos">
    <summary>
      <progress max=${todos.length} value=${done} aria-label=${STRINGS.tasks}></progress>
      ${done}/${todos.length} ${STRINGS.tasks}${doing ? html` · <span class="doing"><${Exact} text=${doing.text} /></span>` : null}
    </summary>
    <ul>${todos.map((one) => html`<li class=${`todo-${one.status}`}>${TODO_SIGNS[one.status] || "·"} <${Exact} text=${one.text} /></li>`)}</ul>
  </details>`;
}
