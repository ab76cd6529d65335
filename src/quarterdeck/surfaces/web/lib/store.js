// What the page knows: sessions, requests, surfaces, and the time.
import { connection, get, listen } from "./connection.js";
import { computed, signal } from "./html.js";
import { RISK_RANKS, STATE_RANKS } from "./labels.js";

const LINGER = 2000;

/** @type {import("../vendor/signals.js").Signal<Map<string, any>>} */
export const sessions = signal(new Map());
/** @type {import("../vendor/signals.js").Signal<Map<string, any>>} */
export const requests = signal(new Map());
/** @type {import("../vendor/signals.js").Signal<any[]>} */
export const clients = signal([]);
/** @type {import("../vendor/signals.js").Signal<Map<string, string>>} */
export const speech = signal(new Map());
/** Projects by their id. @type {import("../vendor/signals.js").Signal<Map<string, any>>} */
export const projects = signal(new Map());
export const now = signal(Date.now() / 1000);
export const loaded = signal(false);
/** The part of the address after #, as its parts. */
export const route = signal(parts());

setInterval(() => (now.value = Date.now() / 1000), 1000);
addEventListener("hashchange", () => (route.value = parts()));

function parts() {
  return location.hash.replace(/^#\/?/, "").split("/").map(decoded);
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a link that was cut off
  }
}

/** Go to another view. @param {...string} to */
export function go(...to) {
  location.hash = `/${to.map(encodeURIComponent).join("/")}`;
}

/** The address of a view, for other signed-in browsers. @param {...string} to */
export function address(...to) {
  return `${location.origin}/#/${to.map(encodeURIComponent).join("/")}`;
}

/** Requests that wait, the riskiest and oldest first. One that has ended stays for a moment, to say how. */
export const desk = computed(() =>
  [...requests.value.values()].sort(
    (a, b) => RISK_RANKS[b.risk.level] - RISK_RANKS[a.risk.level] || a.opened_at - b.opened_at
  )
);
export const pending = computed(() => desk.value.filter((one) => one.status === "pending"));

/** Sessions by what a person must do, the longest wait first. */
export const ordered = computed(() => [...sessions.value.values()].sort((a, b) => rank(a) - rank(b) || since(a) - since(b)));

/** @param {any} session */
function rank(session) {
  if (session.ended_at !== null) return STATE_RANKS.ended;
  const own = STATE_RANKS[session.agent_state] ?? STATE_RANKS.unknown;
  return session.pending ? Math.min(own, STATE_RANKS.waiting_permission) : own;
}

/** @param {any} session */
function since(session) {
  return session.ended_at !== null ? -session.ended_at : session.state_at || session.last_event_at;
}

/** @param {any} map @param {string} key @param {any} value */
function put(map, key, value) {
  const next = new Map(map.value);
  if (value === null) next.delete(key);
  else next.set(key, value);
  map.value = next;
}

listen((message) => {
  if (message.type === "snapshot") {
    if (message.sessions) sessions.value = new Map(message.sessions.map((/** @type {any} */ s) => [s.session_id, s]));
    if (message.requests) requests.value = new Map(message.requests.map((/** @type {any} */ r) => [r.request_id, r]));
    if (message.clients) clients.value = message.clients;
    loaded.value = true;
    readProjects();
  } else if (message.type === "session") {
    put(sessions, message.session.session_id, message.session);
  } else if (message.type === "request") {
    receiveRequest(message.request);
  } else if (message.type === "clients") {
    clients.value = message.clients;
  } else if (message.type === "event") {
    if (message.event.kind === "message.assistant") put(speech, message.event.session_id, null);
  } else if (message.type === "stream") {
    receiveStream(message);
  }
});

/** @param {any} request */
function receiveRequest(request) {
  const known = requests.value.has(request.request_id);
  if (request.status !== "pending" && !known) return;
  put(requests, request.request_id, request);
  if (request.status === "pending") return;
  setTimeout(() => {
    const latest = requests.value.get(request.request_id);
    if (latest && latest.status !== "pending") put(requests, request.request_id, null);
  }, LINGER);
}

/** @param {any} message */
function receiveStream(message) {
  const data = message.data;
  if (!data || data.parent_tool_use_id) return;
  const text = message.kind === "text" && data.delta === "text_delta" ? data.text : message.kind === "message" ? data.delta : null;
  if (data.event === "message_start" || data.index === 0 && message.kind === "message") put(speech, message.session_id, "");
  if (typeof text === "string") put(speech, message.session_id, ((speech.value.get(message.session_id) || "") + text).slice(-8000));
}

const PROJECTS_EVERY = 30_000;
let projectsReadAt = -Infinity;

/** Read the projects again, for their branches, when this was not done for a while. */
export async function readProjects() {
  if (performance.now() - projectsReadAt < PROJECTS_EVERY) return;
  projectsReadAt = performance.now();
  try {
    const found = await get("/projects");
    projects.value = new Map(found.projects.map((/** @type {any} */ one) => [one.project_id, one]));
  } catch {
    // a page without branches is still useful
  }
}

/** The branch that a session works on; empty when it is not known. @param {any} session @returns {string} */
export function branchOf(session) {
  const project = session && projects.value.get(session.project_id);
  return (project && project.git_branch) || "";
}

/** The name of a session's machine, when there are several. @param {string} runnerId */
export function machineOf(runnerId) {
  const all = new Set([...sessions.value.values()].map((one) => one.runner_id));
  if (all.size < 2) return "";
  const one = [...sessions.value.values()].find((session) => session.runner_id === runnerId);
  return (one && one.runner_name) || runnerId;
}

/** The session of a request, if it is known. @param {any} request */
export function sessionOf(request) {
  return sessions.value.get(request.session_id) || null;
}

/** Other surfaces on which this request is shown. @param {string} requestId */
export function viewers(requestId) {
  const own = sessionStorage.getItem("client_id");
  return clients.value.filter((one) => one.visible && one.request_id === requestId && one.client_id !== own);
}

export { connection };
