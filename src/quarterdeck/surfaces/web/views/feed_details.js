// What a row of the feed opens: the input and the result of a call, who decided it, and links to it.
import { command } from "../lib/connection.js";
import { html, useState } from "../lib/html.js";
import { dataOf } from "../lib/row_keys.js";
import { lastOf } from "../lib/row_words.js";
import { address, go } from "../lib/store.js";
import { STRINGS } from "../lib/strings.js";
import { cut } from "../lib/text.js";
import { Marked } from "./feed_row.js";
import { CopyButton, Exact } from "./parts.js";

const MOST = 20_000;
const OUTPUTS = ["stdout", "stderr", "content", "text", "result", "output", "error"];
const CALLS = ["tool.pre", "permission.request", "question.request", "tool.post", "tool.failure", "permission.denied"];

/** @param {any} value */
function asText(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2) || "";
}

/** The readable part of a tool's answer. @param {any} response @returns {string} */
function resultText(response) {
  if (response === null || response === undefined) return "";
  if (typeof response === "string") return response;
  if (Array.isArray(response)) return response.map(resultText).join("\n");
  if (typeof response !== "object") return String(response);
  const found = OUTPUTS.filter((name) => Object.hasOwn(response, name) && response[name]).map((name) => resultText(response[name]));
  return found.length ? found.join("\n") : asText(response);
}

/** Removed and added lines of a replacement. @param {{ before: string, after: string }} props */
function Replaced({ before, after }) {
  const lines = [...before.split("\n").map((one) => ["removed", "-", one]), ...after.split("\n").map((one) => ["added", "+", one])];
  return html`<pre class="code-block change">${lines.slice(0, 400).map(([kind, sign, one]) => html`<span class=${`line ${kind}`}>${sign} <${Exact} text=${one} />${"\n"}</span>`)}</pre>`;
}

/** @param {{ input: any, marks: string }} props */
function CallInput({ input, marks }) {
  const shown = new Set();
  const parts = [];
  if (typeof input.command === "string") {
    shown.add("command");
    parts.push(html`<pre class="code-block"><${Marked} text=${cut(input.command, MOST)} marks=${marks} /></pre>`);
  }
  if (typeof input.old_string === "string" && typeof input.new_string === "string") {
    shown.add("old_string").add("new_string");
    parts.push(html`<${Replaced} before=${cut(input.old_string, MOST)} after=${cut(input.new_string, MOST)} />`);
  }
  const rest = Object.entries(input).filter(([name]) => !shown.has(name));
  return html`${parts}${rest.length
    ? html`<dl class="pairs">${rest.map(([name, value]) => html`<dt><${Exact} text=${name} /></dt><dd><${Marked} text=${cut(asText(value), MOST)} marks=${marks} /></dd>`)}</dl>`
    : null}`;
}

/** @param {{ row: import("../lib/rows.js").Row, session: any, marks: string }} props */
export function RowDetails({ row, session, marks }) {
  const [problem, setProblem] = useState("");
  const call = CALLS.map((kind) => row.events.find((one) => one.kind === kind)).find((one) => one && dataOf(one).tool_input);
  const after = lastOf(row.events, "tool.post", "tool.failure");
  const result = after ? (after.kind === "tool.post" ? resultText(dataOf(after).tool_response) : String(dataOf(after).error || "")) : "";
  const event = row.events[row.events.length - 1];
  const request = row.events.map((one) => dataOf(one).request_id).find(Boolean);
  const others = row.events.filter((one) => !CALLS.includes(one.kind));
  const point = dataOf(row.events[0]).point;
  const forks = point && (session.actions || []).some((/** @type {any} */ one) => one.name === "fork" && one.possible);
  async function fork() {
    try {
      const made = await command("fork_session", { session_id: session.session_id, at: point, mode: "sdk" });
      go("session", made.session_id);
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
  }
  return html`<div class="details">
    ${call ? html`<${CallInput} input=${dataOf(call).tool_input} marks=${marks} />` : null}
    ${result ? html`<p class="fine">${after && after.kind === "tool.post" ? STRINGS.result : STRINGS.failure}</p><pre class=${`code-block ${after && after.kind === "tool.failure" ? "failure" : ""}`}><${Marked} text=${cut(result, MOST)} marks=${marks} /></pre>` : null}
    ${call || others.length === row.events.length && others.length > 1
      ? others.map((one) => html`<p class="fine"><${Exact} text=${one.title} /></p>`)
      : null}
    ${!call && !row.events.some((one) => one.body) ? html`<pre class="code-block"><${Exact} text=${cut(asText(event.data), MOST)} /></pre>` : null}
    <p class="row-actions">
      <${CopyButton} text=${() => address("session", session.session_id, String(row.events[0].seq_no))} words=${STRINGS.copyLink} />
      ${request ? html`<button type="button" class="quiet" onClick=${() => go("request", String(request))}>${STRINGS.openRequest}</button>` : null}
      ${forks ? html`<button type="button" class="quiet" onClick=${fork}>${STRINGS.forkHere}</button>` : null}
    </p>
    ${problem ? html`<p class="problem" role="alert"><${Exact} text=${problem} /></p>` : null}
  </div>`;
}
