// The part of the log that a session view knows: it grows at both ends, follows the end, and can begin anywhere else.
import { byPlace, follow, get, listen } from "./connection.js";
import { signal } from "./html.js";
import { HIDDEN_KINDS, REPEATING_NOTIFICATIONS } from "./labels.js";
import { dataOf, rowKeys } from "./row_keys.js";
import { Rows } from "./rows.js";

const PAGE = 200;
const END = Number.MAX_SAFE_INTEGER;
const GATHERED = 50;
const HIDDEN = new Set(HIDDEN_KINDS);

const CALLS = ["tool.pre", "tool.post", "tool.failure", "permission.denied"];
const REQUESTS = ["permission.request", "question.request", "stop.request"];
const DECISIONS = ["permission.decision", "question.decision", "stop.decision"];
const FAILURES = ["tool.failure", "stop.failure", "session.failed", "escalation.failed", "unknown.hook"];
const WORDS = ["user.prompt", "message.user", "message.assistant", "session.send", "stop.request", "run.start"];

/** What a feed can be reduced to, and the kinds of events that this keeps.
 * @type {Record<string, string[]>} */
export const FILTERS = {
  all: [],
  words: WORDS,
  tools: [...CALLS, ...REQUESTS, ...DECISIONS],
  decisions: [...REQUESTS, ...DECISIONS],
  errors: FAILURES,
};

/** What one can jump to. @type {Record<string, string[]>} */
export const JUMPS = { prompt: ["user.prompt"], decision: [...REQUESTS, ...DECISIONS], error: FAILURES };

/** True for an event that repeats or explains another one. @param {any} event */
function isHidden(event) {
  if (event.kind !== "notification") return HIDDEN.has(event.kind);
  return REPEATING_NOTIFICATIONS.includes(dataOf(event).notification_type);
}

export class FeedLog {
  /** @param {string} sessionId */
  constructor(sessionId) {
    this.sessionId = sessionId;
    this.rows = new Rows();
    /** Changes with everything that must be drawn again. */
    this.version = signal(0);
    this.filter = "all";
    this.hasEarlier = false;
    /** True while the view does not reach to the end of the log. */
    this.hasLater = false;
    this.isLoading = false;
    this.problem = "";
    /** Events that came since the last drawing. @type {any[]} */
    this.gathered = [];
    this.timer = 0;
    /** The number of the load that counts: an earlier one that answers late is dropped. */
    this.turn = 0;
  }

  /** Load the end, and follow it. @returns {() => void} the way to end it */
  open() {
    const stop = listen((message) => this.receive(message));
    const unfollow = follow(["feed", `streams:${this.sessionId}`]);
    this.goToEnd();
    return () => {
      stop();
      unfollow();
      clearTimeout(this.timer);
      this.turn += 1;
    };
  }

  /** @param {any} message */
  receive(message) {
    if (message.type === "hello" && message.resume === "gap") this.goToEnd();
    if (message.type === "subscribed") this.catchUp();
    if (message.type !== "event" || message.event.session_id !== this.sessionId) return;
    if (!this.keeps(message.event) || this.hasLater) return;
    this.gathered.push(message.event);
    this.timer ||= setTimeout(() => this.flush(), GATHERED);
  }

  flush() {
    this.timer = 0;
    if (this.isLoading) return; // what came meanwhile is added when the page is there
    const found = this.gathered;
    this.gathered = [];
    this.rows.append(found);
    this.hasEarlier ||= found.length > 0 && this.rows.first > found[0].seq_no;
    this.draw();
  }

  /** @param {any} event */
  keeps(event) {
    const kinds = FILTERS[this.filter];
    return !isHidden(event) && (!kinds.length || kinds.includes(event.kind));
  }

  draw() {
    this.version.value += 1;
  }

  /** @param {string} where @param {string[]} [kinds] @param {number} [limit] */
  async read(where, kinds = FILTERS[this.filter], limit = PAGE) {
    const only = kinds.map((one) => `&kind=${one}`).join("");
    const page = await get(`/feed?session_id=${encodeURIComponent(this.sessionId)}&limit=${limit}&${where}${only}`);
    return { ...page, events: page.events.map(byPlace) };
  }

  /** Load one page, and put it in its place. @param {() => Promise<void>} load */
  async load(load) {
    const turn = (this.turn += 1);
    this.isLoading = true;
    this.problem = "";
    this.draw();
    try {
      await load.call(this);
    } catch (error) {
      if (turn === this.turn) this.problem = /** @type {Error} */ (error).message;
    }
    if (turn !== this.turn) return;
    this.isLoading = false;
    this.flush();
  }

  goToEnd() {
    return this.load(async () => {
      const turn = this.turn;
      const page = await this.read(`before=${END}`);
      if (turn !== this.turn) return;
      this.rows.fold(page.events.filter((/** @type {any} */ one) => !isHidden(one)));
      this.hasEarlier = page.events.length === PAGE;
      this.hasLater = false;
    });
  }

  loadEarlier() {
    if (this.isLoading || !this.hasEarlier) return;
    return this.load(async () => {
      const turn = this.turn;
      const page = await this.read(`before=${this.rows.first}`);
      if (turn !== this.turn) return;
      this.hasEarlier = page.events.length === PAGE;
      if (this.rows.prepend(page.events.filter((/** @type {any} */ one) => !isHidden(one)))) this.hasLater = true;
    });
  }

  loadLater() {
    if (this.isLoading || !this.hasLater) return;
    return this.load(async () => {
      const turn = this.turn;
      const page = await this.read(`after=${this.rows.last}`);
      if (turn !== this.turn) return;
      this.rows.append(page.events.filter((/** @type {any} */ one) => !isHidden(one)));
      this.hasLater = page.events.length === PAGE;
      this.hasEarlier = true;
    });
  }

  /** Read what was recorded between the first page and the start of the live events. */
  async catchUp() {
    if (this.hasLater || !this.rows.last) return;
    try {
      const page = await this.read(`after=${this.rows.last}`, undefined, 1000);
      if (!this.hasLater) this.rows.append(page.events.filter((/** @type {any} */ one) => !isHidden(one)));
      this.draw();
    } catch {
      // the banner says that the daemon is down; the next connection reads again
    }
  }

  /** Show the part of the log around an event. @param {number} seqNo */
  async goTo(seqNo) {
    if (this.has(seqNo)) return;
    await this.load(async () => {
      const turn = this.turn;
      const [earlier, later] = await Promise.all([this.read(`before=${seqNo}`), this.read(`after=${seqNo - 1}`)]);
      if (turn !== this.turn) return;
      this.gathered = [];
      this.rows.fold([...earlier.events, ...later.events].filter((/** @type {any} */ one) => !isHidden(one)));
      this.hasEarlier = earlier.events.length === PAGE;
      this.hasLater = later.events.length === PAGE;
    });
  }

  /** @param {number} seqNo */
  has(seqNo) {
    return this.rows.log.length > 0 && seqNo >= this.rows.first && (seqNo <= this.rows.last || !this.hasLater);
  }

  /** The number of the next event of these kinds, or null. @param {string} to @param {number} from @param {number} step */
  async find(to, from, step) {
    const page = await this.read(step < 0 ? `before=${from}` : `after=${from}`, JUMPS[to], 1);
    return page.events.length ? page.events[0].seq_no : null;
  }

  /** The number of the first event since a time, or null. @param {number} at */
  async findTime(at) {
    const page = await this.read(`after=0&since=${at}`, [], 1);
    return page.events.length ? page.events[0].seq_no : null;
  }

  /** The numbers of the events that match a search, one of each row, the latest of them. @param {string} words @returns {Promise<number[]>} */
  async search(words) {
    const page = await this.read(`before=${END}&q=${encodeURIComponent(words)}`, [], 1000);
    /** @type {Set<string>} */
    const seen = new Set();
    const first = page.events.filter((/** @type {any} */ one) => {
      const keys = rowKeys(one);
      const isNew = !isHidden(one) && !keys.some((key) => seen.has(key));
      for (const key of keys) seen.add(key);
      return isNew;
    });
    return first.map((/** @type {any} */ one) => one.seq_no);
  }

  /** @param {string} name */
  setFilter(name) {
    this.filter = name;
    return this.goToEnd();
  }
}
