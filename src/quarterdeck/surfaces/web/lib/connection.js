// The WebSocket to the daemon: it resumes where it was, and says honestly when it is not connected.
import { signal } from "./html.js";
import { STRINGS } from "./strings.js";

/** connecting, live, away (trying again), signed-out */
export const connection = signal("connecting");
export const notice = signal("");

const FIRST_WAIT = 300;
const LONGEST_WAIT = 8000;
const PING_EVERY = 15000;
const ANSWER_WITHIN = 10000;
const SIGNED_OUT = [4401, 4403];
const OTHER_PROTOCOL = 4406;

/** @type {WebSocket | null} */
let socket = null;
let wait = FIRST_WAIT;
let timer = 0;
let heard = 0;
let nextId = 1;
/** The version of the daemon that served this page. */
let daemonVersion = "";
/** @type {number | string | null} */
let cursor = null;
/** @type {Set<string>} */
const topics = new Set(["requests", "sessions", "clients"]);
/** How many parts of the page follow a topic that comes and goes. @type {Map<string, number>} */
const followers = new Map();
/** @type {Map<string, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
const waiting = new Map();
/** @type {((message: any) => void)[]} */
const listeners = [];
/** @type {any} */
let shown = { visible: true };

/** Call this function for every message. @param {(message: any) => void} listener @returns {() => void} the way to end it */
export function listen(listener) {
  listeners.push(listener);
  return () => void listeners.splice(listeners.indexOf(listener), 1);
}

function clientId() {
  const kept = sessionStorage.getItem("client_id");
  if (kept) return kept;
  const made = `web-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  sessionStorage.setItem("client_id", made);
  return made;
}

/** @param {any} message */
function send(message) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

export function connect() {
  clearTimeout(timer);
  if (socket && socket.readyState <= WebSocket.OPEN) return;
  const own = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws`);
  socket = own;
  own.onopen = () => {
    const hello = { type: "hello", protocol: 2, client: "web", version: "1", client_id: clientId(), topics: [...topics] };
    send({ ...hello, after: topics.has("feed") ? cursor : null });
    send({ type: "visible", ...shown });
  };
  own.onmessage = (event) => {
    heard = Date.now();
    const frame = JSON.parse(event.data);
    for (const message of Array.isArray(frame) ? frame : [frame]) receive(message);
  };
  own.onclose = (event) => {
    if (socket !== own) return;
    socket = null;
    lose(event.code);
  };
}

/** @param {number} code */
function lose(code) {
  for (const one of waiting.values()) one.reject(new Error("The connection was lost before Quarterdeck answered."));
  waiting.clear();
  if (SIGNED_OUT.includes(code)) {
    connection.value = "signed-out";
    return;
  }
  if (code === OTHER_PROTOCOL) notice.value = STRINGS.upgraded;
  connection.value = "away";
  check();
  timer = setTimeout(connect, wait * (0.5 + Math.random() / 2));
  wait = Math.min(wait * 2, LONGEST_WAIT);
}

/** A refused upgrade has no reason in the browser: ask over HTTP whether it is the sign-in. */
async function check() {
  try {
    const answer = await fetch("/api/v1/me");
    if (answer.status === 401) connection.value = "signed-out";
  } catch {
    // the daemon does not answer: the page says so already
  }
}

/** @param {any} message */
function receive(message) {
  if (message.type === "hello") {
    wait = FIRST_WAIT;
    connection.value = "live";
    daemonVersion ||= message.daemon_version;
    if (daemonVersion !== message.daemon_version) notice.value = STRINGS.upgraded;
    if (cursor === null || message.resume === "gap") cursor = message.cursor;
  } else if (message.type === "subscribed" || message.type === "event") {
    cursor = message.cursor;
    if (message.event) message.event = byPlace(message.event);
  } else if (message.type === "ack") {
    const one = waiting.get(message.id);
    waiting.delete(message.id);
    if (one && message.ok) one.resolve(message.result);
    else if (one) one.reject(Object.assign(new Error(message.error.message), { kind: message.error.kind }));
    return;
  } else if (message.type === "notice") {
    notice.value = message.message;
  }
  for (const listener of [...listeners]) listener(message);
}

/** An event as the page orders it: at a hub by its place in the order of arrival, as the numbers of several machines overlap. @param {any} event */
export function byPlace(event) {
  return event.place === undefined ? event : { ...event, log_seq_no: event.seq_no, seq_no: event.place };
}

/** Carry out a command, and return its result. @param {string} name @param {any} args @returns {Promise<any>} */
export function command(name, args) {
  if (connection.value !== "live") return Promise.reject(new Error("Not connected: nothing was sent."));
  const id = String(nextId++);
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    send({ type: "command", id, name, args });
  });
}

/** Read a resource. @param {string} path @returns {Promise<any>} */
export async function get(path) {
  const answer = await fetch(`/api/v1${path}`);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error ? body.error.message : String(answer.status));
  return body;
}

/** Change something over HTTP, such as signing out. @param {string} path @param {any} body @returns {Promise<any>} */
export async function post(path, body) {
  const me = await get("/me");
  const headers = { "content-type": "application/json", "x-csrf-token": me.csrf || "" };
  const answer = await fetch(`/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const result = await answer.json();
  if (!answer.ok) throw new Error(result.error ? result.error.message : String(answer.status));
  return result;
}

/** Follow these topics besides the usual ones. @param {string[]} more @returns {() => void} the way to end it */
export function follow(more) {
  const added = more.filter((topic) => !topics.has(topic));
  for (const topic of more) followers.set(topic, (followers.get(topic) || 0) + 1);
  for (const topic of added) topics.add(topic);
  if (added.length) send({ type: "subscribe", topics: added });
  return () => {
    for (const topic of more) followers.set(topic, (followers.get(topic) || 0) - 1);
    const left = more.filter((topic) => !followers.get(topic));
    for (const topic of left) topics.delete(topic);
    if (left.length) send({ type: "unsubscribe", topics: left });
  };
}

/** Say what this page shows, so that others see who looks. @param {any} what */
export function show(what) {
  const next = { visible: document.visibilityState === "visible", ...what };
  if (JSON.stringify(next) === JSON.stringify(shown)) return;
  shown = next;
  send({ type: "visible", ...shown });
}

/** Try again at once: the computer was asleep, or the network is back. */
function wake() {
  if (socket && Date.now() - heard > PING_EVERY + ANSWER_WITHIN) socket.close();
  wait = FIRST_WAIT;
  if (connection.value === "away") connect();
}

addEventListener("online", wake);
addEventListener("visibilitychange", () => {
  show({ ...shown, visible: document.visibilityState === "visible" });
  if (document.visibilityState === "visible") wake();
});
setInterval(() => {
  if (connection.value !== "live") return;
  if (Date.now() - heard > PING_EVERY + ANSWER_WITHIN && socket) socket.close();
  else if (Date.now() - heard > PING_EVERY) send({ type: "ping", id: 0 });
}, 5000);
