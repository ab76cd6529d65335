// One row of the feed: a line, a text, or a sub-agent, and what opens below it.
import { html } from "../lib/html.js";
import { headOf, wordsOf } from "../lib/rows.js";
import { lastOf } from "../lib/row_words.js";
import { STRINGS } from "../lib/strings.js";
import { clock, tookWords } from "../lib/text.js";
import { RowDetails } from "./feed_details.js";
import { Exact } from "./parts.js";

/** @typedef {import("../lib/rows.js").Row} Row */

const SHOWN = 1500;
const SPEECH = ["message.assistant"];
const PROMPTS = ["user.prompt", "message.user", "session.send"];

/** What a row is: a prompt, the agent's text, the end of a turn, a call that waits, a failure, or a line. @param {Row} row */
export function rowKind(row) {
  const head = headOf(row.events);
  if (PROMPTS.includes(head.kind)) return "prompt";
  if (SPEECH.includes(head.kind)) return "speech";
  const words = wordsOf(row);
  if (words.outcome === "needs you" || words.outcome === "asks you" || (head.kind === "stop.request" && head.data.request_id && row.events.length === 1)) return "waits";
  if (lastOf(row.events, "run.end", "stop.request", "turn.result", "stop.failure")) return words.level === "error" ? "failed" : "end";
  if (words.level === "error" || words.outcome.startsWith("failed")) return "failed";
  if (lastOf(row.events, "subagent.start", "subagent.stop")) return "subagent";
  return head.kind === "tool.pre" || row.events.some((one) => one.kind === "tool.post") ? "call" : "line";
}

/** The longer text of a row that is there for its text. @param {Row} row */
function textOf(row) {
  const head = headOf(row.events);
  if (PROMPTS.includes(head.kind) || SPEECH.includes(head.kind)) return String(head.body || head.title);
  const stop = lastOf(row.events, "stop.request");
  const failure = lastOf(row.events, "stop.failure");
  return String((failure && failure.body) || (stop && stop.body) || "");
}

/** A height to begin with, until the row was measured. @param {Row} row */
export function estimate(row) {
  const kind = rowKind(row);
  if (kind !== "prompt" && kind !== "speech" && kind !== "end") return 30;
  const text = textOf(row).slice(0, SHOWN);
  return 34 + 21 * Math.min(14, Math.ceil(text.length / 90) + text.split("\n").length - 1);
}

/** Text with the words of a search marked. @param {{ text: string, marks: string, links?: boolean }} props */
export function Marked({ text, marks, links = true }) {
  const words = marks.trim().split(/\s+/).filter(Boolean).map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!words.length) return html`<${Exact} text=${text} links=${links} />`;
  const parts = text.split(new RegExp(`(${words.join("|")})`, "giu"));
  return parts.map((part, n) => (n % 2 ? html`<mark class="hit"><${Exact} text=${part} /></mark>` : html`<${Exact} text=${part} />`));
}

/** @param {{ row: Row, index: number, count: number, open: boolean, marks: string, session: any, folded: number, inside: boolean,
 *   current: boolean, toggle: () => void }} props */
export function FeedRow({ row, index, count, open, marks, session, folded, inside, current, toggle }) {
  const kind = rowKind(row);
  const words = wordsOf(row);
  const head = headOf(row.events);
  const glyph = words.text.slice(0, words.text.indexOf(" ") + 1).trim();
  const plain = glyph.length === 1 || glyph.length === 2 ? words.text.slice(glyph.length + 1) : words.text;
  const long = textOf(row);
  const isText = kind === "prompt" || kind === "speech";
  const shown = open || long.length <= SHOWN ? long : `${long.slice(0, SHOWN)}…`;
  return html`<article
    class=${`event row-${kind} ${inside ? "inside" : ""} ${open ? "open" : ""} ${current ? "current" : ""}`}
    data-index=${index}
    data-key=${row.key}
    tabindex="-1"
    aria-posinset=${index + 1}
    aria-setsize=${count}
    aria-label=${isText ? (kind === "prompt" ? STRINGS.you : STRINGS.agent) : words.text.slice(0, 200)}
  >
    <button type="button" class="line" aria-expanded=${open} onClick=${toggle}>
      <time>${clock(head.at)}</time>
      <span class="glyph" aria-hidden="true">${isText ? (kind === "prompt" ? "❯" : "◂") : glyph || "·"}</span>
      ${isText
        ? html`<span class="what who">${kind === "prompt" ? STRINGS.you : STRINGS.agent}</span>`
        : html`<span class="what"><${Marked} text=${plain} marks=${marks} links=${false} /></span>`}
      ${words.verdict ? html`<span class=${`verdict ${words.verdict.startsWith("✗") ? "refused" : ""}`}><${Exact} text=${words.verdict} /></span>` : null}
      ${words.outcome && kind !== "failed" ? html`<span class="outcome-words">${words.outcome}</span>` : null}
      ${words.took === null ? null : html`<span class="took">${tookWords(words.took)}</span>`}
      ${folded && !open ? html`<span class="took">${folded === 1 ? `1 ${STRINGS.step}` : `${folded} ${STRINGS.steps}`}</span>` : null}
    </button>
    ${kind === "failed" && words.outcome && words.outcome !== "failed" ? html`<p class="below problem"><${Marked} text=${words.outcome} marks=${marks} /></p>` : null}
    ${long && (isText || !open) ? html`<div class=${`said ${open ? "" : "clipped"}`}><${Marked} text=${shown} marks=${marks} /></div>` : null}
    ${open && kind !== "subagent" ? html`<${RowDetails} row=${row} session=${session} marks=${marks} />` : null}
  </article>`;
}
