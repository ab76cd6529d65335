// A row of the feed in one line: the same words as core/text/feed/row_words.py, which a test compares.
import { SUBJECT_FIELDS, TOOL_NAMES } from "./labels.js";
import { dataOf } from "./row_keys.js";
import { cut, dollars, flat, tookWords } from "./text.js";

/** @typedef {{ text: string, verdict: string, outcome: string, took: number | null, level: string }} RowWords */

const CALLS = ["tool.pre", "permission.request", "question.request", "permission.denied", "tool.post", "tool.failure"];
const REQUESTS = ["permission.request", "question.request"];
const DECISIONS = ["permission.decision", "question.decision", "stop.decision"];
const OUTCOMES = ["tool.post", "tool.failure"];
const ENDS = ["stop.failure", "run.end", "turn.result", "stop.request"];
const LEVELS = ["debug", "info", "warn", "error"];
const SUBJECT = 80;
const TERMINAL = "at the terminal";

/** @param {any[]} events @param {string[]} kinds */
export function lastOf(events, ...kinds) {
  for (let at = events.length - 1; at >= 0; at -= 1) if (kinds.includes(events[at].kind)) return events[at];
  return null;
}

/** @param {any[]} events @param {string[]} kinds the best first */
function bestOf(events, kinds) {
  for (const kind of kinds) {
    const found = events.find((one) => one.kind === kind);
    if (found) return found;
  }
  return null;
}

/** The words of a row. @param {any[]} events in the order of the log @param {boolean} over its run has ended
 * @returns {RowWords} */
export function rowWords(events, over) {
  const level = LEVELS[Math.max(...events.map((one) => (LEVELS.includes(one.level) ? LEVELS.indexOf(one.level) : 1)))];
  const call = bestOf(events, CALLS);
  if (call && dataOf(call).tool_name) return callWords(events, call.data, level, over);
  return { text: textOf(events), verdict: verdictOf(events), outcome: "", took: null, level };
}

/** All of it in one line. @param {RowWords} words */
export function line(words) {
  const took = words.took === null ? "" : tookWords(words.took);
  return [words.text, words.verdict, words.outcome, took].filter(Boolean).join("  ");
}

/** @param {any[]} events @param {any} data @param {string} level @param {boolean} over @returns {RowWords} */
function callWords(events, data, level, over) {
  const subject = cut(flat(subjectOf(data.tool_input) || listProgress(data.tool_input)), SUBJECT);
  const waits = waiting(events, over);
  const [found, took] = outcomeOf(events, waits);
  const outcome = over && found === "running" ? "no result" : found;
  const glyph = !waits ? "●" : lastOf(events, "question.request") ? "?" : "◆";
  return { text: `${glyph} ${toolName(data)} ${subject}`.trimEnd(), verdict: verdictOf(events), outcome, took, level };
}

/** The tool's name for people: `mcp__github__create_issue` is `github·create_issue`. @param {any} data */
export function toolName({ tool_name, tool_kind }) {
  const name = String(tool_name || "");
  if (tool_kind !== "mcp") return Object.hasOwn(TOOL_NAMES, tool_kind) ? TOOL_NAMES[tool_kind] : name;
  const rest = name.replace(/^mcp__/, "");
  const at = rest.indexOf("__");
  const tool = at < 0 ? "" : rest.slice(at + 2);
  return tool ? `${rest.slice(0, at)}·${tool}` : at < 0 ? rest : rest.slice(0, at);
}

/** The subject of a tool call; empty if it has none. @param {any} input @returns {string} */
export function subjectOf(input) {
  if (!input || typeof input !== "object" || Array.isArray(input)) return "";
  for (const field of SUBJECT_FIELDS) {
    const value = Object.hasOwn(input, field) ? input[field] : "";
    if (typeof value === "string" && value) return field.endsWith("_path") ? value.split("/").pop() || value : value;
  }
  if (typeof input.plan === "string" && input.plan.trim()) return input.plan.trim().split("\n")[0].replace(/^[# ]+/, "").trimEnd();
  const first = Array.isArray(input.questions) ? input.questions[0] : null;
  return first && typeof first === "object" && typeof first.question === "string" ? first.question : "";
}

/** How far a list of to-dos is done. @param {any} input */
function listProgress(input) {
  const found = input && Array.isArray(input.todos) ? input.todos : [];
  const todos = found.filter((/** @type {any} */ one) => one && typeof one === "object" && !Array.isArray(one));
  const done = todos.filter((/** @type {any} */ one) => one.status === "completed").length;
  return todos.length ? `${done} of ${todos.length} done` : "";
}

/** @param {any[]} events @param {string} waits @returns {[string, number | null]} */
function outcomeOf(events, waits) {
  const after = lastOf(events, ...OUTCOMES);
  if (!after) {
    const decision = lastOf(events, ...DECISIONS);
    const denied = decision && dataOf(decision).decision_type === "deny";
    return [waits || (lastOf(events, "permission.denied") ? "denied by the agent" : denied ? "" : "running"), null];
  }
  const data = dataOf(after);
  const ms = data.duration_ms;
  const took = typeof ms === "number" && ms >= 0 && ms < 1e12 ? ms / 1000 : null;
  if (after.kind === "tool.post") return ["", took];
  const error = String(data.error || "").split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/).map((one) => one.trim()).filter(Boolean);
  return [error.length ? `failed: ${cut(error[error.length - 1], SUBJECT)}` : "failed", took];
}

/** What a call waits for; empty if it waits for nothing. @param {any[]} events @param {boolean} over */
function waiting(events, over) {
  const request = lastOf(events, ...REQUESTS);
  if (!request || lastOf(events, ...OUTCOMES)) return "";
  const decision = lastOf(events, ...DECISIONS);
  if (!decision) return request.kind === "permission.request" ? "needs you" : "asks you";
  return !over && dataOf(decision).still_asks ? "waits at its terminal" : "";
}

/** The decision that counts: the last one that was not too late, unless the agent did otherwise. @param {any[]} events */
function verdictOf(events) {
  for (let at = events.length - 1; at >= 0; at -= 1) {
    const words = DECISIONS.includes(events[at].kind) ? verdictWords(dataOf(events[at])) : "";
    if (words) return words;
  }
  return "";
}

/** Why a request was withdrawn: a session over the SDK has no terminal where it could have been answered. @param {any} data */
function endWords(data) {
  const reason = String(data.reason || data.message || TERMINAL).replace(/^Blocked: /, "").replace(/\.$/, "");
  return reason.endsWith(TERMINAL) ? TERMINAL : cut(reason, 60);
}

/** @param {any} data */
function verdictWords(data) {
  const decision = String(data.decision_type);
  if (data.late || data.overrides) return data.overrides ? "! overridden at the terminal" : "";
  if (data.status === "expired") return "· nobody answered";
  const glyph = decision === "allow" || decision === "answer" ? "✓" : decision === "ask" ? "?" : decision === "no_opinion" ? "·" : "✗";
  if (data.status === "withdrawn") return `${glyph} ${endWords(data)}`;
  if (decision === "no_opinion") return "";
  if (data.pattern) return `${glyph} rule ${data.pattern}`;
  if (data.source === "elsewhere") return `${glyph} ${TERMINAL}`;
  const answers = answersInWords(data.answers, data.notes);
  if (answers) return `${glyph} ${answers}`;
  const edited = data.updated_input === null || data.updated_input === undefined ? "" : ", edited";
  const message = glyph === "✗" ? String(data.message || data.reason || "") : "";
  const by = String(data.by || "").split(" via ").join(` from `);
  return `${glyph} ${by}${edited}${message.trim() ? `: ${cut(flat(message), 60)}` : ""}`;
}

/** @param {any} answers @param {any} notes */
function answersInWords(answers, notes) {
  if (!answers || typeof answers !== "object" || Array.isArray(answers)) return "";
  const noted = notes && typeof notes === "object" ? notes : {};
  const parts = Object.entries(answers).map(([question, answer]) => {
    const words = Array.isArray(answer) ? answer.map(String).join(", ") : String(answer);
    return Object.hasOwn(noted, question) && noted[question] ? `${words} (${noted[question]})` : words;
  });
  return cut(parts.join(" · ").replaceAll("\n", " "), 60);
}

/** The title of the event that says most: of a prompt its text, of a turn how it ended. @param {any[]} events */
function textOf(events) {
  const end = bestOf(events, ENDS);
  if (end) {
    const result = lastOf(events, "turn.result");
    const cost = result && end !== result ? dollars(dataOf(result).cost_usd) : "";
    return [String(end.title), cost].filter(Boolean).join(" · ");
  }
  const head = events.find((one) => one.kind !== "run.start") || events[0];
  return String((lastOf(events, "user.prompt") || lastOf(events, "subagent.stop") || head).title);
}
