// Which events are one row of the feed, and where it stands: the same as core/text/feed, which a test compares.

const MOST_BACK = 2000;
const ANNOUNCED = new Set(["tool.pre", "subagent.start", "subagent.stop", "stop.request", "stop.failure", "turn.result", "run.end"]);

/** @typedef {(event: any, data: any) => string[]} Keys */

/** @type {Keys} */
const call = (event, data) => (data.tool_use_id ? [`${event.session_id}/${data.tool_use_id}`] : []);
/** @type {Keys} */
const causedByCall = (event) => (event.cause && event.cause.tool_use_id ? [`${event.session_id}/${event.cause.tool_use_id}`] : []);
/** @type {Keys} */
const ofRequest = (event, data) => (data.request_id ? [`${event.session_id}?${data.request_id}`] : []);
/** @type {Keys} */
const request = (event, data) => {
  const own = call(event, data);
  return [...ofRequest(event, data), ...(own.length ? own : causedByCall(event, data))];
};
/** @type {Keys} */
const decision = (event, data) => [...ofRequest(event, data), ...causedByCall(event, data)];
/** @type {Keys} */
const end = (event) => [`${event.run_id} end`];
/** @type {Keys} */
const stop = (event, data) => (data.request_id ? ofRequest(event, data) : data.background ? [] : end(event, data));
/** @type {Keys} */
const stopDecision = (event, data) => [
  ...ofRequest(event, data),
  ...(data.late || data.decision_type === "block" ? [] : end(event, data)),
];
/** @type {Keys} */
const runStart = (event) => [`${event.run_id} start`];
/** @type {Keys} */
const prompt = (event, data) => (event.actor_id === "user" ? runStart(event, data) : []);
/** @type {Keys} */
const subagent = (event, data) => [`${event.session_id}@${data.agent_id}`];

/** @type {Map<string, Keys>} */
const KEYS = new Map([
  ["tool.pre", call],
  ["tool.post", call],
  ["tool.failure", call],
  ["permission.denied", call],
  ["permission.request", request],
  ["question.request", request],
  ["permission.decision", decision],
  ["question.decision", decision],
  ["request.assessed", ofRequest],
  ["todo.add", causedByCall],
  ["todo.update", causedByCall],
  ["todo.done", causedByCall],
  ["stop.request", stop],
  ["stop.decision", stopDecision],
  ["stop.failure", end],
  ["turn.result", end],
  ["run.end", end],
  ["run.start", runStart],
  ["user.prompt", prompt],
  ["subagent.start", subagent],
  ["subagent.stop", subagent],
]);

/** The data of an event; empty when it has another shape. @param {any} event */
export function dataOf(event) {
  return event.data && typeof event.data === "object" && !Array.isArray(event.data) ? event.data : {};
}

/** The keys of an event: two events with a key in common are one row. @param {any} event @returns {string[]} */
export function rowKeys(event) {
  const make = KEYS.get(event.kind);
  return make && event.data && typeof event.data === "object" ? make(event, event.data) : [];
}

/** When a message was said, by the transcript; null when it is not known. @param {any} event @returns {number | null} */
function saidAt(event) {
  const at = event.kind === "message.assistant" ? dataOf(event).said_at : null;
  return typeof at === "number" && at > 0 && at <= event.at ? at : null;
}

/** @param {string} actor @param {string} speaker */
function isOf(actor, speaker) {
  return actor === speaker || (actor === "system" && speaker === "agent:root");
}

/** A number that sorts rows: by the log, but an agent's text before what it announces, since a transcript is often read
 * after the calls of its turn were recorded. @param {any} event @param {any[]} log the events in the order of the log
 * @param {number} index where the event is in it */
export function placeOf(event, log, index) {
  const said = saidAt(event);
  let before = 0;
  for (let at = index - 1; said !== null && at >= 0 && at >= index - MOST_BACK; at -= 1) {
    const one = log[at];
    if (one.kind === "message.assistant") continue;
    if (one.at < said || event.seq_no - one.seq_no > MOST_BACK) break;
    if (ANNOUNCED.has(one.kind) && one.run_id === event.run_id && isOf(one.actor_id, event.actor_id)) before = one.seq_no;
  }
  return before ? before * 4096 + Math.min(event.seq_no - before, 4094) : event.seq_no * 4096 + 4095;
}
