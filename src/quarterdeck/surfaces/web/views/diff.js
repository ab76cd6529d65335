// A change to a file: in one column, or before and after side by side, with the colours of its language.
import { html, useState } from "../lib/html.js";
import { diffLines, pairs } from "../lib/diff_lines.js";
import { STRINGS } from "../lib/strings.js";
import { Exact } from "./parts.js";

/** @typedef {import("../lib/diff_lines.js").DiffLine} DiffLine */

const WIDE = "(min-width: 1000px)";
const SIGNS = { added: "+", removed: "−", same: " ", hunk: "" };
const kept = { split: localStorage.getItem("diff") === "split" };

/** @param {{ line: DiffLine }} props */
function Code({ line }) {
  if (!line.spans.length) return html`<${Exact} text=${line.text || " "} />`;
  let at = 0;
  const made = line.spans.map(([length, role]) => {
    const text = line.text.slice(at, at + length);
    at += length;
    return role ? html`<span class=${`code-${role}`}><${Exact} text=${text} /></span>` : html`<${Exact} text=${text} />`;
  });
  return at < line.text.length ? [...made, html`<${Exact} text=${line.text.slice(at)} />`] : made;
}

/** @param {{ diff: string, change: any }} props */
export function Diff({ diff, change }) {
  const [split, setSplit] = useState(kept.split);
  const lines = diffLines(diff, change.colours || []);
  const canSplit = matchMedia(WIDE).matches && lines.some((one) => one.kind === "removed");
  const choose = (/** @type {boolean} */ value) => {
    kept.split = value;
    localStorage.setItem("diff", value ? "split" : "inline");
    setSplit(value);
  };
  return html`<figure class="diff">
    <figcaption>
      <code class="path"><${Exact} text=${change.path} /></code>
      <span class="added">+${change.added}</span> <span class="removed">−${change.removed}</span>
      ${change.notes.map((/** @type {string} */ one) => html` <span class="note"><${Exact} text=${one} /></span>`)}
      ${canSplit
        ? html`<span class="toggle" role="group">
            <button type="button" class="chip" aria-pressed=${!split} onClick=${() => choose(false)}>${STRINGS.inline}</button>
            <button type="button" class="chip" aria-pressed=${split} onClick=${() => choose(true)}>${STRINGS.sideBySide}</button>
          </span>`
        : null}
    </figcaption>
    ${canSplit && split ? html`<${Split} lines=${lines} />` : html`<${Inline} lines=${lines} />`}
  </figure>`;
}

/** @param {{ lines: DiffLine[] }} props */
function Inline({ lines }) {
  return html`<div class="code-block change" tabindex="0" role="group" aria-label=${STRINGS.inline}><table class="lines"><tbody>
    ${lines.map((one) => html`<tr class=${`line ${one.kind}`}>
      <td class="number">${one.before || ""}</td><td class="number">${one.after || ""}</td>
      <td class="sign">${SIGNS[one.kind]}</td><td class="text"><${Code} line=${one} /></td></tr>`)}
  </tbody></table></div>`;
}

/** @param {{ lines: DiffLine[] }} props */
function Split({ lines }) {
  return html`<div class="code-block change split" tabindex="0" role="group" aria-label=${STRINGS.sideBySide}><table class="lines"><tbody>
    ${pairs(lines).map(([left, right]) =>
      left && left.kind === "hunk"
        ? html`<tr class="line hunk"><td class="number"></td><td class="text" colspan="3"><${Code} line=${left} /></td></tr>`
        : html`<tr class="line">${[left, right].map((one, side) => html`<td class=${`number ${one ? one.kind : "none"}`}>${one ? (side ? one.after : one.before) : ""}</td>
            <td class=${`text ${one ? one.kind : "none"}`}>${one ? html`<${Code} line=${one} />` : null}</td>`)}</tr>`
    )}
  </tbody></table></div>`;
}
