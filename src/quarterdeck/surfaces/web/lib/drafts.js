// What was typed and not sent. It survives a reload, and is forgotten once it was sent or after a week.

const PREFIX = "draft ";
const KEPT_FOR = 7 * 86400_000;

/** @template T @param {string} key @param {T} empty @returns {T} */
export function readDraft(key, empty) {
  try {
    const kept = localStorage.getItem(PREFIX + key);
    return kept === null ? empty : JSON.parse(kept).value;
  } catch {
    return empty;
  }
}

/** @param {string} key @param {unknown} value an empty text forgets it */
export function writeDraft(key, value) {
  try {
    if (value === "" || value === null) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, JSON.stringify({ value, at: Date.now() }));
  } catch {
    // too long for the browser to keep: it stays in the field
  }
}

/** Forget every draft whose key begins so. @param {string} start */
export function forgetDrafts(start) {
  for (const name of keys()) if (name.startsWith(PREFIX + start)) localStorage.removeItem(name);
}

/** @returns {string[]} */
function keys() {
  return Array.from({ length: localStorage.length }, (_, n) => localStorage.key(n) || "");
}

for (const name of keys()) {
  if (!name.startsWith(PREFIX)) continue;
  try {
    if (Date.now() - JSON.parse(localStorage.getItem(name) || "").at > KEPT_FOR) localStorage.removeItem(name);
  } catch {
    localStorage.removeItem(name);
  }
}
