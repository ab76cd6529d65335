// Text for people: times, paths, and characters that would hide or reorder what is shown.

/** @typedef {{ text: string, hidden: boolean }} Piece */

// The same characters as core/text/sanitize.py, which a test compares.
export const UNSEEN =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\p{Surrogate}]/gu;

/** The text in pieces: those to read, and hidden characters spelled out. @param {string} text @returns {Piece[]} */
export function pieces(text) {
  const found = [];
  let at = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > at) found.push({ text: text.slice(at, match.index), hidden: false });
    const code = /** @type {number} */ (match[0].codePointAt(0));
    found.push({ text: `⟨${code.toString(16)}⟩`, hidden: true });
    at = match.index + match[0].length;
  }
  if (at < text.length || !found.length) found.push({ text: text.slice(at), hidden: false });
  return found;
}

/** The same in one string, for places that take no marks. @param {unknown} text */
export function spelled(text) {
  return pieces(String(text)).map((one) => one.text).join("");
}

/** A number of seconds in few words, as the terminal says it. @param {number} seconds */
export function age(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} m`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h`;
  return `${Math.floor(whole / 86400)} d`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A number in two digits. @param {number} value */
const two = (value) => String(value).padStart(2, "0");

/** A time as every surface words it: relative within the hour, then the time of day, then with the date.
 * @param {number} at @param {number} now */
export function ago(at, now) {
  const seconds = Math.max(0, now - at);
  if (seconds < 3600) return `${age(seconds)} ago`;
  const date = new Date(at * 1000);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return seconds < 43200 ? `at ${clock}` : `${two(date.getDate())} ${MONTHS[date.getMonth()]} ${clock}`;
}

/** The clock time. @param {number} at */
export function clock(at) {
  const date = new Date(at * 1000);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
}

/** The name of a session's project; a worktree belongs to the project it was made from. @param {any} session */
export function projectOf(session) {
  const folder = (session.owned && session.owned.worktree) || session.cwd || "";
  const name = folder.replace(/\/+$/, "").split("/").pop() || "no folder";
  const own = `-${session.session_id.slice(0, 8)}`;
  return name.endsWith(own) ? name.slice(0, -own.length) : name;
}

/** A measured duration; a short one more exactly than an age. @param {number} seconds */
export function tookWords(seconds) {
  if (seconds < 0.9995) return `${(seconds * 1000).toFixed(0)} ms`;
  return seconds < 9.95 ? `${seconds.toFixed(1)} s` : age(Math.round(seconds));
}

/** The text in at most `width` characters, cut in the middle. @param {string} text @param {number} width */
export function cut(text, width) {
  if (text.length <= width) return text;
  const half = Math.floor((width - 1) / 2);
  const all = text.length > 4 * width ? [...text.slice(0, 2 * width), ...text.slice(-2 * width)] : [...text];
  return all.length <= width ? all.join("") : `${all.slice(0, half).join("")}…${all.slice(-half).join("")}`;
}

/** Every run of white space as one blank. @param {string} text */
export function flat(text) {
  return text.split(/(?:[^\S\ufeff]|[\x1c-\x1f\x85])+/).filter(Boolean).join(" ");
}

/** A cost in dollars and cents; empty for none, and never `$0.00` for a small one. @param {unknown} cost */
export function dollars(cost) {
  if (typeof cost !== "number" || !cost) return "";
  return cost >= 0.005 ? `$${cost.toFixed(2)}` : "<$0.01";
}

/** A cost in dollars; empty when it is not known. @param {any} usage */
export function cost(usage) {
  return usage ? dollars(usage.cost_usd) : "";
}

/** A number in about four characters: 950, 12k, 3.4M. @param {number} number */
export function count(number) {
  if (number < 1000) return String(number);
  return number < 999_500 ? `${(number / 1000).toFixed(0)}k` : `${(number / 1_000_000).toFixed(1)}M`;
}

/** A number of bytes. @param {number} size */
export function bytes(size) {
  if (size < 1024) return `${size} B`;
  return size < 1048576 ? `${(size / 1024).toFixed(0)} kB` : `${(size / 1048576).toFixed(1)} MB`;
}
