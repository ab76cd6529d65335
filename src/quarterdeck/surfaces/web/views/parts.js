// Small pieces that every view uses.
import { html, useEffect, useErrorBoundary, useRef, useState } from "../lib/html.js";
import { MARKS } from "../lib/labels.js";
import { STRINGS } from "../lib/strings.js";
import { pieces } from "../lib/text.js";

const LINK = /(https?:\/\/[^\s<>"'`\u0000-\u001f]+)/giu;

/** Text from outside, exactly: hidden characters are spelled out. With `links`, addresses can be opened, and say where
 * they lead when that is not plain. @param {{ text: string, links?: boolean }} props */
export function Exact({ text, links }) {
  const whole = String(text);
  if (links && whole.length < 100_000 && whole.includes("://")) {
    return whole.split(LINK).map((part, n) => (n % 2 ? html`<${Link} text=${part} />` : html`<${Exact} text=${part} />`));
  }
  const found = pieces(whole);
  if (found.length === 1 && !found[0].hidden) return found[0].text;
  return found.map((one) => (one.hidden ? html`<mark class="unseen">${one.text}</mark>` : one.text));
}

/** An address that an agent wrote. @param {{ text: string }} props */
function Link({ text }) {
  const shown = text.replace(/[).,;:!?\]]+$/u, "");
  const rest = text.slice(shown.length);
  const found = URL.canParse(shown) ? new URL(shown) : null;
  if (!found || pieces(shown).some((one) => one.hidden)) return html`<${Exact} text=${text} />`;
  const isPlain = shown.toLowerCase().startsWith(`${found.protocol}//${found.host}`) && !found.username;
  return html`<a href=${found.href} target="_blank" rel="noopener noreferrer nofollow">${shown}</a>${isPlain ? null : html`<span class="leads"> → ${found.host}</span>`}${rest}`;
}

/** A button that copies a text, and says so. @param {{ text: () => string, words: string }} props */
export function CopyButton({ text, words }) {
  const [copied, setCopied] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      const field = document.createElement("textarea");
      field.value = text();
      document.body.append(field);
      field.select();
      document.execCommand("copy"); // the only way on a page that was not loaded over https
      field.remove();
    }
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  }
  return html`<button type="button" class="quiet" onClick=${copy}>${copied ? STRINGS.copied : words}</button>`;
}

/** Shows its children, or in words that they cannot be shown. It tries again when `of` is another one.
 * @param {{ of?: unknown, words?: string, children?: any }} props */
export function Guard({ of, words, children }) {
  const [error, again] = useErrorBoundary((failure) => console.error(failure));
  useEffect(() => again(), [of]);
  if (!error) return children;
  return html`<div class="broken problem" role="alert">${words || STRINGS.broken} <${Exact} text=${error} /></div>`;
}

/** The mark of a risk; nothing for a low one. @param {{ risk: any }} props */
export function Risk({ risk }) {
  const mark = MARKS[risk.level];
  return mark ? html`<span class=${`risk risk-${risk.level}`}><b aria-hidden="true">${mark}</b> ${risk.level}</span>` : null;
}

/** The sign and the word for a session's state. @param {{ session: any }} props */
export function State({ session }) {
  return html`<span class=${`state state-${session.agent_state}`}
    ><span aria-hidden="true">${session.glyph}</span> ${session.label}</span
  >`;
}

/** Buttons behind one, which close when the focus leaves them. @param {{ words: string, children?: any }} props */
export function Menu({ words, children }) {
  const own = useRef(/** @type {any} */ (null));
  const close = () => void (own.current.open = false);
  return html`<details class="menu" ref=${own}
    onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Escape" && (close(), own.current.firstElementChild.focus())}
    onFocusOut=${(/** @type {FocusEvent} */ event) => own.current.contains(event.relatedTarget) || close()}>
    <summary>${words}</summary>
    <div class="menu-body" tabindex="-1">${children}</div>
  </details>`;
}
