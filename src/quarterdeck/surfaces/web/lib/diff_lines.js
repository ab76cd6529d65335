// A unified diff as lines with their numbers, and as pairs of lines for two columns.

/** @typedef {{ kind: "added" | "removed" | "same" | "hunk", text: string, before: number, after: number, spans: [number, string][] }} DiffLine */

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const KINDS = /** @type {Record<string, DiffLine["kind"]>} */ ({ "+": "added", "-": "removed", " ": "same" });

/** @param {string} diff @param {[number, string][][]} colours of each line below the names of the files @returns {DiffLine[]} */
export function diffLines(diff, colours) {
  const lines = diff.replace(/\n$/, "").split("\n").slice(2);
  let before = 0;
  let after = 0;
  return lines.map((line, n) => {
    const hunk = HUNK.exec(line);
    if (hunk) [before, after] = [Number(hunk[1]), Number(hunk[2])];
    const kind = KINDS[line[0]];
    if (!kind) return { kind: "hunk", text: line, before: 0, after: 0, spans: [] };
    return {
      kind,
      text: line.slice(1),
      before: kind === "added" ? 0 : before++,
      after: kind === "removed" ? 0 : after++,
      spans: colours[n] || [],
    };
  });
}

/** What stands beside what: removed lines with those that are added in their place. @param {DiffLine[]} lines
 * @returns {[DiffLine | null, DiffLine | null][]} */
export function pairs(lines) {
  /** @type {[DiffLine | null, DiffLine | null][]} */
  const made = [];
  for (let at = 0; at < lines.length; ) {
    if (lines[at].kind === "same" || lines[at].kind === "hunk") {
      made.push([lines[at], lines[at]]);
      at += 1;
      continue;
    }
    const removed = run(lines, at, "removed");
    const after = at + removed.length;
    // "\ No newline at end of file" may stand between what is removed and what is added.
    const noted = removed.length && lines[after] && lines[after].text.startsWith("\\") ? 1 : 0;
    const added = run(lines, after + noted, "added");
    const most = Math.max(removed.length, added.length);
    for (let n = 0; n < most; n += 1) made.push([removed[n] || null, added[n] || null]);
    if (noted) made.push([lines[after], lines[after]]);
    at = after + noted + added.length;
  }
  return made;
}

/** The lines of one kind from here on. @param {DiffLine[]} lines @param {number} start @param {string} kind */
function run(lines, start, kind) {
  let end = start;
  while (end < lines.length && lines[end].kind === kind) end += 1;
  return lines.slice(start, end);
}
