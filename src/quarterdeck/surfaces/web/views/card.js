// One request: who asks for what, its risk in words, and the decision. A card acts only when it has been seen.
import { command, get, show } from "../lib/connection.js";
import { forgetDrafts } from "../lib/drafts.js";
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { hint } from "../lib/places.js";
import { viewers } from "../lib/store.js";
import { STRINGS } from "../lib/strings.js";
import { bytes, spelled } from "../lib/text.js";
import { Background, Head, title } from "./card_parts.js";
import { Answer, Edit, Message, Plan, Remember } from "./forms.js";
import { Input } from "./input.js";
import { Exact } from "./parts.js";

const SEEN_AFTER = 300;
const KEYS = { a: "allow", d: "deny", e: "edit", r: "remember", p: "pass", x: "expand" };
const PARTS = 100_000;
const KEPT_OPEN = ["deny", "block"];

/** @param {{ request: any, current: boolean }} props */
export function Card({ request, current }) {
  const [details, setDetails] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState("");
  const [opened, setOpened] = useState({ form: "", what: "" });
  const [sending, setSending] = useState(false);
  const [expandedFor, setExpandedFor] = useState("");
  const [endFor, setEndFor] = useState("");
  const [settledFor, setSettledFor] = useState("");
  const [near, setNear] = useState(false);
  const busy = useRef(false);
  const own = useRef(/** @type {any} */ (null));
  const end = useRef(/** @type {any} */ (null));
  const id = request.request_id;
  const pending = request.status === "pending";
  // What was seen, expanded or about to be allowed counts for this very input and risk, and for no later one.
  const what = `${request.digest} ${request.risk.level} ${request.needs_second_key}`;
  const expanded = expandedFor === request.digest;
  const open = opened.what === what || KEPT_OPEN.includes(opened.form) ? opened.form : "";
  const setOpen = (/** @type {string} */ form) => setOpened({ form, what });
  const card = details && details.digest === request.digest ? { ...details, ...changing(request) } : request;
  const size = card.truncated ? card.truncated.bytes : 0;
  const long = !card.truncated && JSON.stringify(card.tool_input).length > PARTS;
  const hides = expanded ? [] : [...request.hides, ...(long ? [bytes(JSON.stringify(card.tool_input).length)] : [])];

  useEffect(() => {
    const observer = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && setNear(true), { rootMargin: "600px" });
    observer.observe(own.current);
    return () => observer.disconnect();
  }, [id]);

  useEffect(() => {
    if (!near) return;
    let live = true;
    get(`/requests/${encodeURIComponent(id)}`).then(
      (found) => live && setDetails(found),
      (error) => live && setProblem(error.message)
    );
    return () => { live = false; };
  }, [id, what, near]);

  const content = `${request.digest} ${expanded} ${details ? details.digest : ""}`;
  const atEnd = endFor === content;
  useEffect(() => {
    const observer = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && setEndFor(content));
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [id, content]);

  useEffect(() => {
    if (!atEnd) return;
    const timer = setTimeout(() => setSettledFor(what), SEEN_AFTER);
    return () => clearTimeout(timer);
  }, [id, what, atEnd]);

  useEffect(() => {
    if (current && pending) show({ session_id: request.session_id, request_id: id });
  }, [current, pending, id]);

  /** Why an allow must wait; empty when it need not. */
  const blocked = hides.length ? STRINGS.expandFirst : card.truncated ? STRINGS.wholeFirst : !atEnd ? STRINGS.readFirst : settledFor !== what ? " " : "";

  /** @param {any} body */
  async function decide(body) {
    if (busy.current) return;
    busy.current = true;
    setSending(true);
    setProblem("");
    try {
      await command("decide", { request_id: id, digest: request.digest, ...body });
      forgetDrafts(`${id} `);
      setOpen("");
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
    busy.current = false;
    setSending(false);
  }

  /** @param {string} verb */
  function act(verb) {
    if (!pending || sending) return;
    if (verb === "expand") return setExpandedFor(request.digest);
    if (open) return; // a key must not decide past an open form
    if (verb === "pass") return card.decisions.includes("pass") ? decide({ decision: "pass" }) : undefined;
    if (verb === "deny" && !card.decisions.includes("deny") && !card.decisions.includes("block")) return;
    if ((verb === "edit" || verb === "remember") && !(card.kind === "permission" && card.decisions.includes("allow"))) return;
    if (verb !== "allow") return setOpen(verb);
    if (!card.decisions.includes("allow") || blocked) return setProblem(blocked.trim());
    if (card.form === "plan") return setOpen("plan");
    if (card.needs_second_key) return setOpen("sure");
    decide({ decision: "allow" });
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && open) {
      setOpen("");
      own.current.focus();
    } else if (target.closest("input, textarea, select")) {
      return;
    } else if (Object.hasOwn(KEYS, event.key) && !event.repeat) {
      event.preventDefault();
      act(KEYS[/** @type {keyof typeof KEYS} */ (event.key)]);
    }
  }

  const others = viewers(id);
  return html`<article
    class=${`card risk-of-${card.risk.level} ${pending ? "" : "over"}`}
    tabindex="0"
    ref=${own}
    data-request=${id}
    aria-label=${`${spelled(title(card))}, ${STRINGS.risk} ${card.risk.level}`}
    onKeyDown=${onKey}
  >
    <${Head} card=${card} />
    <div class="body">
      <${Input} card=${card} expanded=${expanded} />
      <span ref=${end} class="end"></span>
    </div>
    ${hides.length
      ? html`<button type="button" class="expand" onClick=${() => setExpandedFor(request.digest)}>
          ${STRINGS.expand}: ${hides.join(", ")}
        </button>`
      : null}
    <${Background} card=${card} />
    ${others.length ? html`<p class="fine">${STRINGS.alsoOn}: ${spelled(others.map((one) => one.client || one.name).join(", "))}</p>` : null}
    ${problem || hint.value.id === id ? html`<p class="problem" role="alert"><${Exact} text=${problem || hint.value.words} /></p>` : null}
    ${pending
      ? html`<${Decide} ...${{ card, open, setOpen, sending, blocked, decide, act }} />`
      : html`<p class="outcome" role="status"><${Exact} text=${card.outcome} /></p>`}
  </article>`;
}

/** What a later message about a request replaces. @param {any} request */
function changing({ status, decision, decisions, outcome, holder, risk, needs_second_key }) {
  return { status, decision, decisions, outcome, holder, risk, needs_second_key };
}

/** The buttons, or what one of them opened. @param {any} props */
function Decide({ card, open, setOpen, sending, blocked, decide, act }) {
  const close = () => setOpen("");
  const takes = (/** @type {string} */ one) => card.decisions.includes(one);
  const form = { card, decide, close, sending };
  if (open === "deny") return html`<${Message} ...${form} kind=${takes("deny") ? "deny" : "block"} />`;
  if (open === "block") return html`<${Message} ...${form} kind="block" />`;
  if (open === "edit") return html`<${Edit} ...${form} blocked=${blocked} />`;
  if (open === "remember") return html`<${Remember} ...${form} blocked=${blocked} />`;
  if (open === "plan") return html`<${Plan} ...${form} />`;
  if (open === "sure")
    return html`<div class="sure" role="alertdialog" aria-label=${STRINGS.sure}>
      <p>${STRINGS.sure}</p>
      <button type="button" onClick=${close}>${STRINGS.cancel}</button>
      <button type="button" class="danger" disabled=${sending || blocked !== ""} onClick=${() => decide({ decision: "allow" })}>
        ${STRINGS.sureYes}
      </button>
    </div>`;
  if (takes("answer"))
    return html`<${Answer} ...${form} />
      <div class="actions">
        <button type="button" onClick=${() => act("deny")}>${STRINGS.deny}…</button>
        ${takes("pass") ? html`<button type="button" onClick=${() => decide({ decision: "pass" })}>${STRINGS.pass}</button>` : null}
      </div>`;
  const allow = card.form === "plan" ? STRINGS.approve : card.kind === "stop" ? STRINGS.letStop : STRINGS.allow;
  return html`<div class="actions">
    ${takes("deny") ? html`<button type="button" class="deny" onClick=${() => act("deny")}>${STRINGS.deny}…</button>` : null}
    ${takes("block") ? html`<button type="button" onClick=${() => setOpen("block")}>${STRINGS.block}…</button>` : null}
    ${takes("allow")
      ? html`<button
          type="button"
          class="allow"
          disabled=${sending || blocked !== ""}
          title=${blocked.trim()}
          onClick=${() => act("allow")}
        >
          ${sending ? STRINGS.sending : allow}
        </button>`
      : null}
    <span class="more">
      ${takes("allow") && card.kind === "permission"
        ? html`<button type="button" class="quiet" onClick=${() => act("edit")}>${STRINGS.edit}</button>
            <button type="button" class="quiet" onClick=${() => act("remember")}>${STRINGS.remember}</button>`
        : null}
      ${takes("pass")
        ? html`<button type="button" class="quiet" onClick=${() => decide({ decision: "pass" })}>${STRINGS.pass}</button>`
        : null}
    </span>
    ${blocked.trim() ? html`<p class="fine">${blocked}</p>` : null}
  </div>`;
}
