// Several requests decided at once: each chosen by a person, with its exact input and its digest as shown.
import { post } from "../lib/connection.js";
import { html, useEffect, useState } from "../lib/html.js";
import { pending, sessionOf } from "../lib/store.js";
import { STRINGS } from "../lib/strings.js";
import { projectOf } from "../lib/text.js";
import { title } from "./card_parts.js";
import { Dialog } from "./dialog.js";
import { Exact, Risk } from "./parts.js";

const SETTLED = 300;
const LONGEST = 600;

/** Why a request must be decided on its own card; empty when it need not. @param {any} request */
function alone(request) {
  if (request.kind !== "permission" || request.form || !request.decisions.includes("allow") || !request.decisions.includes("deny")) return STRINGS.manyAlone;
  const risky = request.needs_second_key || request.risk.level === "high" || request.risk.level === "critical";
  const long = request.truncated || JSON.stringify(request.tool_input).length > LONGEST;
  return risky || long || request.hides.length ? STRINGS.manyAlone : "";
}

/** @param {{ close: () => void }} props */
export function Many({ close }) {
  // The requests as they were when the dialog opened: one that comes later is not decided by a click meant for others.
  const [shown] = useState(() => pending.value);
  const [chosen, setChosen] = useState(/** @type {Set<string>} */ (new Set()));
  const [message, setMessage] = useState("");
  const [settled, setSettled] = useState(false);
  const [results, setResults] = useState(/** @type {Map<string, string>} */ (new Map()));
  const [busy, setBusy] = useState(false);
  const waits = new Map(pending.value.map((one) => [one.request_id, one]));
  const can = shown.filter((one) => !alone(one) && waits.get(one.request_id)?.digest === one.digest);
  const picked = can.filter((one) => chosen.has(one.request_id));

  useEffect(() => {
    setSettled(false);
    const timer = setTimeout(() => setSettled(true), SETTLED);
    return () => clearTimeout(timer);
  }, [chosen]);

  /** @param {string} id */
  function toggle(id) {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  }

  /** @param {string} decision */
  async function decide(decision) {
    setBusy(true);
    const words = decision === "deny" && message.trim() ? { message } : {};
    const next = new Map(results);
    try {
      const made = await post("/requests/decisions", { decisions: picked.map((one) => ({ request_id: one.request_id, digest: one.digest, decision, ...words })) });
      for (const one of made.decisions) if (!one.ok) next.set(one.request_id, one.error.message);
      setChosen(new Set());
      if (made.decisions.every((/** @type {any} */ one) => one.ok)) close();
    } catch (error) {
      next.set("", /** @type {Error} */ (error).message);
    }
    setResults(next);
    setBusy(false);
  }

  const off = !picked.length || busy || !settled;
  return html`<${Dialog} title=${STRINGS.manyTitle} close=${close} wide=${true}>
    <p class="fine">${can.length ? STRINGS.manyHow : STRINGS.manyEmpty}</p>
    <ul class="many">
      ${shown.map((one) => {
        const session = sessionOf(one);
        const now = waits.get(one.request_id);
        const why = alone(one) || (now ? "" : STRINGS.over);
        return html`<li class=${why ? "off" : ""}>
          <label>
            <input type="checkbox" checked=${chosen.has(one.request_id) && !why} disabled=${Boolean(why) || busy} onChange=${() => toggle(one.request_id)} />
            <span class="what">
              <span class="line"><b><${Exact} text=${session ? projectOf(session) : one.session_id.slice(0, 8)} /></b> <${Exact} text=${title(one)} /> <${Risk} risk=${one.risk} /> ${why ? html`<span class="fine">${why}</span>` : null}</span>
              ${why ? null : html`<${Exactly} input=${one.tool_input} />`}
              ${results.has(one.request_id) ? html`<span class="problem">${STRINGS.manyRefused}: <${Exact} text=${results.get(one.request_id) || ""} /></span>` : null}
            </span>
          </label>
        </li>`;
      })}
    </ul>
    ${results.has("") ? html`<p class="problem" role="alert"><${Exact} text=${results.get("") || ""} /></p>` : null}
    <form class="form" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <label>${STRINGS.manyMessage}<input value=${message} onInput=${(/** @type {any} */ event) => setMessage(event.target.value)} /></label>
      <div class="actions">
        <button type="button" class="quiet" onClick=${() => setChosen(new Set(picked.length === can.length ? [] : can.map((one) => one.request_id)))}>${picked.length && picked.length === can.length ? STRINGS.manyNone : STRINGS.manyAll}</button>
        <span class="spring"></span>
        <button type="button" class="deny" disabled=${off} onClick=${() => decide("deny")}>${STRINGS.manyDeny} ${picked.length || ""}</button>
        <button type="button" class="allow" disabled=${off} onClick=${() => decide("allow")}>${STRINGS.manyAllow} ${picked.length || ""}</button>
      </div>
    </form>
  <//>`;
}

/** A short input whole. @param {{ input: any }} props */
function Exactly({ input }) {
  if (typeof input.command === "string" && Object.keys(input).length === 1) return html`<code class="block"><${Exact} text=${input.command} /></code>`;
  return Object.entries(input).map(([name, value]) => html`<code class="block"><span class="fine"><${Exact} text=${name} />: </span><${Exact} text=${typeof value === "string" ? value : JSON.stringify(value)} /></code>`);
}
