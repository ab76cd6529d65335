// What a person does with a session: write to it, attach files, change how it runs, interrupt, end, resume, fork, take over.
import { command } from "../lib/connection.js";
import { attachment } from "../lib/attachments.js";
import { readDraft, writeDraft } from "../lib/drafts.js";
import { html, useRef, useState } from "../lib/html.js";
import { PERMISSION_MODES, SESSION_MODES } from "../lib/labels.js";
import { go, sessions } from "../lib/store.js";
import { STRINGS } from "../lib/strings.js";
import { Exact } from "./parts.js";

/** Files attached to prompts that were not sent, by session. @type {Map<string, any[]>} */
const attachedFiles = new Map();

/** @param {{ session: any }} props */
export function Composer({ session }) {
  const id = session.session_id;
  const key = `prompt ${id}`;
  const [text, setText] = useState(() => readDraft(key, ""));
  const [files, setFiles] = useState(attachedFiles.get(id) || []);
  const [problem, setProblem] = useState("");
  const [open, setOpen] = useState("");
  const [busy, setBusy] = useState(false);
  const picker = useRef(/** @type {any} */ (null));
  const actions = /** @type {Record<string, any>} */ (Object.fromEntries(session.actions.map((/** @type {any} */ one) => [one.name, one])));
  const can = (/** @type {string} */ name) => Boolean(actions[name] && actions[name].possible);
  const write = (/** @type {string} */ value) => {
    setText(value);
    writeDraft(key, value);
  };
  const keep = (/** @type {any[]} */ next) => {
    attachedFiles.set(id, next);
    setFiles(next);
  };

  /** @param {Iterable<File>} chosen */
  async function add(chosen) {
    setProblem("");
    const made = [];
    for (const file of chosen) {
      if (file.size > 5 * 1024 * 1024) setProblem(`${file.name} ${STRINGS.tooLarge}`);
      else made.push({ name: file.name, body: await attachment(file) });
    }
    keep([...(attachedFiles.get(id) || []), ...made]);
  }

  /** @param {string} name @param {any} args */
  async function run(name, args = {}) {
    setProblem("");
    setBusy(true);
    try {
      const result = await command(name, name === "start_session" ? args : { session_id: id, ...args });
      setOpen("");
      if (result && result.session_id && result.session_id !== id && name !== "send_message") go("session", result.session_id);
      return true;
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
      return false;
    } finally {
      setBusy(false);
    }
  }

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    if (!text.trim() || busy) return;
    const attached = files.map((one) => one.body);
    if (await run("send_message", { prompt: text, ...(attached.length ? { attachments: attached } : {}) })) {
      write("");
      keep([]);
    }
  }

  const mode = session.mode === "observed" ? "sdk" : session.mode;
  return html`<footer class="composer" onDragOver=${(/** @type {Event} */ event) => event.preventDefault()}
    onDrop=${(/** @type {DragEvent} */ event) => (event.preventDefault(), event.dataTransfer && add(event.dataTransfer.files))}>
    ${can("send")
      ? html`<form class="prompt" onSubmit=${send}>
          ${files.length
            ? html`<ul class="files">${files.map((one, n) => html`<li><${Exact} text=${one.name} /> <button type="button" class="quiet icon" aria-label=${`${STRINGS.detach} ${one.name}`} onClick=${() => keep(files.filter((_, other) => other !== n))}>✕</button></li>`)}</ul>`
            : null}
          <textarea rows="2" placeholder=${STRINGS.prompt} aria-label=${STRINGS.prompt} value=${text} onInput=${(/** @type {any} */ event) => write(event.target.value)}
            onPaste=${(/** @type {ClipboardEvent} */ event) => event.clipboardData && event.clipboardData.files.length && (event.preventDefault(), add(event.clipboardData.files))}
            onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && send(event)}></textarea>
          <input type="file" multiple hidden ref=${picker} aria-label=${STRINGS.attach} onChange=${(/** @type {any} */ event) => (add([...event.target.files]), (event.target.value = ""))} />
          <div class="prompt-tools">
            <button type="button" class="quiet" onClick=${() => picker.current.click()}>${STRINGS.attach}</button>
            <span class="fine hint">${STRINGS.sendHint}</span>
            <button type="submit" class="primary" disabled=${!text.trim() || busy}>${STRINGS.send}</button>
          </div>
        </form>`
      : actions.send && actions.send.reason
        ? html`<p class="fine">${STRINGS.cannotWrite}: <${Exact} text=${actions.send.reason} />.</p>`
        : null}
    <div class="actions">
      ${can("resume") ? html`<button type="button" onClick=${() => run("start_session", { cwd: session.cwd, resume: id, mode })}>${STRINGS.resume}</button>` : null}
      ${can("takeover") ? html`<button type="button" onClick=${() => run("takeover_session")}>${STRINGS.takeover}</button>` : null}
      ${can("interrupt") ? html`<button type="button" onClick=${() => run("interrupt_session")}>${STRINGS.interrupt}</button>` : null}
      ${can("fork") ? html`<button type="button" class="quiet" onClick=${() => run("fork_session")}>${STRINGS.fork}</button>` : null}
      ${can("switch") ? html`<button type="button" class="quiet" aria-expanded=${open === "settings"} onClick=${() => setOpen(open === "settings" ? "" : "settings")}>${STRINGS.settings}</button>` : null}
      ${can("end") ? html`<button type="button" class="quiet" onClick=${() => setOpen("end")}>${STRINGS.end}…</button>` : null}
    </div>
    ${open === "settings" ? html`<${Settings} session=${session} run=${run} />` : null}
    ${open === "end"
      ? html`<div class="sure" role="alertdialog" aria-label=${STRINGS.endSure}><p>${STRINGS.endSure}</p>
          <button type="button" onClick=${() => setOpen("")}>${STRINGS.cancel}</button>
          <button type="button" class="danger" onClick=${() => run("end_session")}>${STRINGS.confirmEnd}</button></div>`
      : null}
    ${problem ? html`<p class="problem" role="alert"><${Exact} text=${problem} /></p>` : null}
  </footer>`;
}

/** @param {{ session: any, run: (name: string, args: any) => Promise<boolean> }} props */
function Settings({ session, run }) {
  const [model, setModel] = useState(session.model || "");
  const models = [...new Set([...sessions.value.values()].map((one) => one.model).filter(Boolean))];
  const change = (/** @type {string} */ name) => (/** @type {any} */ event) => event.target.value && run("change_mode", { [name]: event.target.value });
  return html`<div class="settings">
    <label>${STRINGS.permissionMode}
      <select value=${session.permission_mode || ""} onChange=${change("permission_mode")}>
        ${PERMISSION_MODES.includes(session.permission_mode) ? null : html`<option value=""></option>`}
        ${PERMISSION_MODES.map((one) => html`<option value=${one}>${one}</option>`)}
      </select>
    </label>
    <form onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), model.trim() && run("change_mode", { model: model.trim() }))}>
      <label>${STRINGS.model}<input list="models" value=${model} spellcheck="false" onInput=${(/** @type {any} */ event) => setModel(event.target.value)} /></label>
      <datalist id="models">${models.map((one) => html`<option value=${one}></option>`)}</datalist>
      <button type="submit" disabled=${!model.trim() || model === session.model}>${STRINGS.apply}</button>
    </form>
    <label>${STRINGS.runsAs}
      <select value=${session.mode} onChange=${change("mode")}>${SESSION_MODES.map((one) => html`<option value=${one}>${one}</option>`)}</select>
    </label>
  </div>`;
}
