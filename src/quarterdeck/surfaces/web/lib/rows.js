// The rows of a part of the log: events joined, in their order, and kept to a bounded number.
import { placeOf, rowKeys } from "./row_keys.js";
import { rowWords } from "./row_words.js";

const MOST_EVENTS = 20_000;
/** What is dropped at once, so that a full window is not folded again for every event. */
const DROPPED = 2000;

/** Kinds after which nothing from before is running in a session. */
const OVER = ["run.end", "session.end", "run.start"];

/** One row. `version` grows with every event that joins it; `height` is 0 until it was measured; `over`: its run ended.
 * @typedef {{ key: number, events: any[], place: number, version: number, height: number, words: any, wordsOf: number, over: boolean }} Row */

/** @param {any[]} events in the order of the log */
export function headOf(events) {
  return events.find((one) => one.kind !== "run.start") || events[0];
}

/** The words of a row, made when they are first needed. @param {Row} row */
export function wordsOf(row) {
  if (row.wordsOf !== row.version) {
    row.words = rowWords(row.events, row.over);
    row.wordsOf = row.version;
  }
  return row.words;
}

/** Rows by what is known of the log. */
export class Rows {
  constructor() {
    /** @type {any[]} */
    this.log = [];
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, Row>} */
    this.byKey = new Map();
  }

  get first() {
    return this.log.length ? this.log[0].seq_no : 0;
  }

  get last() {
    return this.log.length ? this.log[this.log.length - 1].seq_no : 0;
  }

  /** Add events after the last one; older ones are skipped. Returns how many rows are new. @param {any[]} events */
  append(events) {
    const before = this.rows.length;
    for (const event of events) if (event.seq_no > this.last) this.add(event);
    const made = this.rows.length - before;
    if (this.log.length > MOST_EVENTS + DROPPED) this.fold(this.log.slice(-MOST_EVENTS));
    return Math.max(0, made);
  }

  /** Add events before the first one. True when the end of the log had to be dropped. @param {any[]} events */
  prepend(events) {
    const older = this.log.length ? events.filter((one) => one.seq_no < this.first) : events;
    const all = [...older, ...this.log];
    this.fold(all.slice(0, MOST_EVENTS));
    return all.length > MOST_EVENTS;
  }

  /** Start again with these events. @param {any[]} events */
  fold(events) {
    const known = new Map(this.rows.map((row) => [row.key, row]));
    this.log = [];
    this.rows = [];
    this.byKey = new Map();
    for (const event of events) this.add(event);
    for (const row of this.rows) {
      const old = known.get(row.key);
      if (old) row.height = old.height;
    }
  }

  /** @param {any} event */
  add(event) {
    this.log.push(event);
    const keys = rowKeys(event);
    const found = [...new Set(keys.map((key) => this.byKey.get(key)).filter((row) => row !== undefined))];
    found.sort((a, b) => a.events[0].seq_no - b.events[0].seq_no);
    const row = found[0] || this.insert(event);
    const head = headOf(row.events);
    for (const other of found.slice(1)) {
      row.events.push(...other.events);
      for (const one of other.events) for (const key of rowKeys(one)) this.byKey.set(key, row);
      this.rows.splice(this.rows.indexOf(other), 1);
    }
    if (found.length) {
      row.events.push(event);
      if (found.length > 1) row.events.sort((a, b) => a.seq_no - b.seq_no);
      row.version += 1;
      row.key = row.events[0].seq_no;
      if (headOf(row.events) !== head) this.move(row);
    }
    for (const key of keys) this.byKey.set(key, row);
    if (OVER.includes(event.kind)) this.end(event);
  }

  /** Nothing from before this event is running in its session. @param {any} event */
  end(event) {
    for (const row of this.rows) {
      if (row.over || row.events[0].session_id !== event.session_id || row.events[0].seq_no >= event.seq_no) continue;
      row.over = true;
      row.version += 1;
    }
  }

  /** @param {any} event @returns {Row} */
  insert(event) {
    const place = placeOf(event, this.log, this.log.length - 1);
    /** @type {Row} */
    const row = { key: event.seq_no, events: [event], place, version: 1, height: 0, words: null, wordsOf: 0, over: false };
    this.put(row);
    return row;
  }

  /** Put a row where its new head stands. @param {Row} row */
  move(row) {
    const head = headOf(row.events);
    this.rows.splice(this.rows.indexOf(row), 1);
    row.place = head.seq_no * 4096 + 4095;
    this.put(row);
  }

  /** @param {Row} row */
  put(row) {
    let at = this.rows.length;
    while (at > 0 && this.rows[at - 1].place > row.place) at -= 1;
    if (at === this.rows.length) this.rows.push(row);
    else this.rows.splice(at, 0, row);
  }
}
