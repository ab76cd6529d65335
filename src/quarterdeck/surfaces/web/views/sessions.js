// The sessions: a list that says what each does now, and the dialog that starts one.
import { command, get } from "../lib/connection.js";
import { html, signal, useEffect, useState } from "../lib/html.js";
import { PERMISSION_MODES, SESSION_MODES } from "../lib/labels.js";
import { branchOf, go, now, ordered, route } from "../lib/store.js";
import { STRINGS } from "../lib/strings.js";
import { age, cost, projectOf } from "../lib/text.js";
import { Dialog } from "./dialog.js";
import { Exact, Guard, State } from "./parts.js";

const MOST = 200;
export const filter = signal("");

/** True for a session that the filter shows. @param {any} session */
export function matches(session) {
  return `${projectOf(session)} ${session.title} ${session.label} ${branchOf(session)}`.toLowerCase().includes(filter.value.toLowerCase());
}

/** @param {{ id: string }} props */
export function SessionFilter({ id }) {
  return html`<input id=${id} class="filter" type="search" placeholder=${STRINGS.filter} aria-label=${STRINGS.filter} value=${filter.value} onInput=${(/** @type {any} */ event) => (filter.value = event.target.value)} />`;
}

export function Sessions() {
  const found = ordered.value.filter(matches);
  return html`<nav class="rail" aria-label=${STRINGS.sessions}>
    <h2>${STRINGS.sessions} <span class="fine">${ordered.value.length || ""}</span></h2>
    <${SessionFilter} id="filter" />
    <ul id="sessions">
      ${found.slice(0, MOST).map((one) => html`<${Guard} key=${one.session_id} of=${one}><${Row} session=${one} /><//>`)}
    </ul>
    ${ordered.value.length ? null : html`<div class="empty"><p>${STRINGS.noSessions}</p><p class="fine">${STRINGS.noSessionsHow}</p></div>`}
  </nav>`;
}

/** @param {{ session: any }} props */
function Row({ session }) {
  const chosen = route.value[0] === "session" && route.value[1] === session.session_id;
  const since = session.agent_state === "running" ? session.run_started_at : session.state_at;
  return html`<li>
    <button type="button" class=${`session ${chosen ? "chosen" : ""} ${session.ended_at === null ? "" : "over"}`} aria-current=${chosen ? "page" : "false"} onClick=${() => go("session", session.session_id)}>
      <span class="line"><span class="name"><b><${Exact} text=${projectOf(session)} /></b>${branchOf(session) ? html` <span class="fine"><${Exact} text=${branchOf(session)} /></span>` : null}</span><span class="fine">${since ? age(now.value - since) : ""}</span></span>
      <span class="line title"><${Exact} text=${session.title || session.session_id.slice(0, 8)} /></span>
      <span class="line"><${State} session=${session} /><span class="fine">${[session.mode === "observed" ? "" : session.mode, cost(session.usage)].filter(Boolean).join(" · ")}</span></span>
    </button>
  </li>`;
}

/** @param {{ close: () => void }} props */
export function StartDialog({ close }) {
  const [projects, setProjects] = useState(/** @type {any[]} */ ([]));
  const [form, setForm] = useState({ cwd: "", mode: "sdk", permission_mode: "default", prompt: "" });
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    get("/projects").then(
      (found) => {
        setProjects(found.projects);
        if (found.projects.length) setForm((old) => ({ ...old, cwd: old.cwd || found.projects[0].path }));
      },
      (error) => setProblem(error.message)
    );
  }, []);
  const set = (/** @type {string} */ name) => (/** @type {any} */ event) => setForm({ ...form, [name]: event.target.value });
  async function start(/** @type {Event} */ event) {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      const { prompt, ...rest } = form;
      const session = await command("start_session", { ...rest, ...(prompt.trim() ? { prompt } : {}) });
      close();
      go("session", session.session_id);
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
    setBusy(false);
  }
  return html`<${Dialog} title=${STRINGS.start} close=${close}>
    <form class="form" onSubmit=${start}>
      <label>${STRINGS.startIn}
        <input list="projects" required value=${form.cwd} onInput=${set("cwd")} spellcheck="false" />
        <datalist id="projects">${projects.map((one) => html`<option value=${one.path}>${one.name}</option>`)}</datalist>
      </label>
      <div class="pair">
        <label>${STRINGS.startMode}
          <select value=${form.mode} onChange=${set("mode")}>${SESSION_MODES.map((one) => html`<option value=${one}>${one}</option>`)}</select>
        </label>
        <label>${STRINGS.startPermission}
          <select value=${form.permission_mode} onChange=${set("permission_mode")}>${PERMISSION_MODES.map((one) => html`<option value=${one}>${one}</option>`)}</select>
        </label>
      </div>
      <label>${STRINGS.startPrompt}<textarea rows="4" value=${form.prompt} onInput=${set("prompt")}></textarea></label>
      ${problem ? html`<p class="problem" role="alert"><${Exact} text=${problem} /></p>` : null}
      <div class="actions">
        <button type="button" class="quiet" onClick=${close}>${STRINGS.cancel}</button>
        <button type="submit" class="primary" disabled=${busy || !form.cwd}>${busy ? STRINGS.sending : STRINGS.startButton}</button>
      </div>
    </form>
  <//>`;
}
