// A dialog: the browser keeps the focus inside it, closes it with Esc, and gives the focus back.
import { html, useLayoutEffect, useRef } from "../lib/html.js";
import { STRINGS } from "../lib/strings.js";

/** @param {{ title: string, close: () => void, wide?: boolean, children?: any }} props */
export function Dialog({ title, close, wide, children }) {
  const own = useRef(/** @type {any} */ (null));
  useLayoutEffect(() => {
    const before = document.activeElement;
    own.current.showModal();
    return () => before instanceof HTMLElement && before.isConnected && before.focus();
  }, []);
  /** A click beside the dialog closes it. @param {MouseEvent} event */
  const clicked = (event) => event.target === own.current && close();
  return html`<dialog class=${wide ? "wide" : ""} ref=${own} aria-label=${title} onClick=${clicked} onCancel=${(/** @type {Event} */ event) => (event.preventDefault(), close())}>
    <div class="dialog-body">
      <header class="dialog-head"><h2>${title}</h2><button type="button" class="quiet icon" aria-label=${STRINGS.close} onClick=${close}>✕</button></header>
      ${children}
    </div>
  </dialog>`;
}
