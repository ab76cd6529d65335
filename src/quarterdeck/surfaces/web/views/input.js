// The exact input of a request: a readable form for what is known, and every other field as it is.
import { html } from "../lib/html.js";
import { STRINGS } from "../lib/strings.js";
import { Diff } from "./diff.js";
import { Exact } from "./parts.js";

const SHOWN = 100_000;
const IN_DIFF = ["file_path", "notebook_path", "old_string", "new_string", "content", "edits", "new_source"];

/** @param {{ card: any, expanded: boolean }} props */
export function Input({ card, expanded }) {
  if (card.truncated) return html`<pre class="exact"><${Exact} text=${card.truncated.begins} />…</pre>`;
  const input = card.tool_input;
  /** @type {Set<string>} */
  const shown = new Set();
  const parts = [];
  if (card.form === "questions" && Array.isArray(input.questions)) {
    shown.add("questions"); // the answer's form shows them whole
  } else if (card.form === "plan" && typeof input.plan === "string") {
    shown.add("plan");
    parts.push(html`<pre class="plan"><${Exact} text=${input.plan || STRINGS.emptyPlan} /></pre>`);
  } else if (card.form === "elicitation") {
    for (const name of ["mcp_server_name", "message", "requested_schema"]) shown.add(name);
    parts.push(html`<p><b><${Exact} text=${input.mcp_server_name || STRINGS.someServer} />:</b> <${Exact} text=${input.message || ""} /></p>`);
  } else if (typeof input.command === "string") {
    shown.add("command");
    parts.push(html`<pre class="exact command"><${Exact} text=${cut(input.command, expanded)} /></pre>`);
  } else if (card.diff && card.change) {
    if (!card.change.cut) IN_DIFF.forEach((name) => shown.add(name));
    if (card.change.compared) shown.add("replace_all");
    parts.push(html`<${Diff} diff=${card.diff} change=${card.change} />`);
  } else if (typeof input.file_path === "string") {
    shown.add("file_path");
    parts.push(html`<pre class="exact"><${Exact} text=${input.file_path} /></pre>`);
  }
  const rest = Object.entries(input).filter(([name]) => !shown.has(name));
  if (!parts.length && !rest.length && !shown.size) parts.push(html`<p class="fine">${STRINGS.nothing}</p>`);
  return html`${parts}
  ${rest.length
    ? html`<dl class="fields">
        ${rest.map(
          ([name, value]) => html`<dt><${Exact} text=${name} /></dt>
            <dd><pre class="exact"><${Exact} text=${cut(typeof value === "string" ? value : JSON.stringify(value, null, 2), expanded)} /></pre></dd>`
        )}
      </dl>`
    : null}`;
}

/** @param {string} text @param {boolean} expanded */
function cut(text, expanded) {
  return expanded || text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}
