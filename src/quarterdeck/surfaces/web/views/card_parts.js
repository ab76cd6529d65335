// The parts of a card that only tell: who asks for what, and what is known about it.
import { html } from "../lib/html.js";
import { FORMS, WANTS } from "../lib/labels.js";
import { address, branchOf, go, machineOf, now, sessionOf } from "../lib/store.js";
import { STRINGS } from "../lib/strings.js";
import { ago, projectOf } from "../lib/text.js";
import { CopyButton, Exact, Risk } from "./parts.js";

const PROMPT = 300;

/** What a request wants, in words. @param {any} card @returns {string} */
export function title(card) {
  if (card.kind === "stop") return STRINGS.wantsToStop;
  return (
    (Object.hasOwn(FORMS, card.form) && FORMS[card.form]) ||
    (Object.hasOwn(WANTS, card.tool_kind) && WANTS[card.tool_kind]) ||
    `${STRINGS.wantsToUse} ${card.tool_name}`
  );
}

/** @param {{ card: any }} props */
export function Head({ card }) {
  const session = sessionOf(card);
  const name = session ? projectOf(session) : `${STRINGS.session} ${card.session_id.slice(0, 8)}`;
  const branch = branchOf(session);
  const facts = [
    branch && `⎇ ${branch}`,
    card.agent_id && `${STRINGS.subagent} ${card.agent_type || card.agent_id}`,
    card.agent,
    session && session.model,
    session && session.runs ? `${STRINGS.run} ${session.runs}` : "",
    machineOf(card.runner_id),
  ].filter(Boolean);
  return html`<header class="head">
    <div class="who">
      <button type="button" class="link" onClick=${() => go("session", card.session_id)}><${Exact} text=${name} /></button>
      <span class="wants"><${Exact} text=${title(card)} /></span>
      <${Risk} risk=${card.risk} />
      <time class="age">${ago(card.opened_at, now.value)}</time>
      <span class="copy"><${CopyButton} text=${() => address("request", card.request_id)} words=${STRINGS.copyLink} /></span>
    </div>
    <p class="facts">
      ${session && session.title ? html`<span class="session-title"><${Exact} text=${session.title} /></span>` : null}
      ${facts.map((one) => html`<span class="fact"><${Exact} text=${one} /></span>`)}
      ${card.holder === "reconnecting" ? html`<span class="fact">${STRINGS.comingBack}</span>` : null}
    </p>
  </header>`;
}

/** @param {{ card: any }} props */
export function Background({ card }) {
  const { risk, command: parts, rule } = card;
  const asked = (card.run && card.run.prompt) || "";
  const said = (card.suggested || []).slice(0, 5);
  return html`<div class="background">
    ${risk.reasons.length
      ? html`<ul class=${`reasons risk-${risk.level}`}>${risk.reasons.map((/** @type {string} */ one) => html`<li><${Exact} text=${one} /></li>`)}</ul>`
      : null}
    ${parts && parts.calls.length > 1 ? html`<${Calls} parts=${parts} />` : null}
    <dl class="pairs">
      ${parts && parts.writes.length ? html`<dt>${STRINGS.writesTo}</dt><dd><code><${Exact} text=${parts.writes.join(" · ")} /></code></dd>` : null}
      ${asked ? html`<dt>${STRINGS.askedFor}</dt><dd><${Exact} text=${asked.length > PROMPT ? `${asked.slice(0, PROMPT)}…` : asked} /></dd>` : null}
      ${rule ? html`<dt>${STRINGS.rules}</dt><dd><${Exact} text=${ruleWords(rule)} /></dd>` : null}
      ${said.map((/** @type {string} */ one) => html`<dt>${STRINGS.suggests}</dt><dd><${Exact} text=${one} /></dd>`)}
    </dl>
  </div>`;
}

/** A command line broken down, each part with its risk. @param {{ parts: any }} props */
function Calls({ parts }) {
  return html`<ol class="calls" aria-label=${STRINGS.parts}>
    ${parts.calls.map(
      (/** @type {any} */ one) => html`<li class=${`call risk-of-${one.risk.level}`}>
        <code>${one.piped ? "| " : ""}<${Exact} text=${one.via ? one.words.join(" ") : one.text} /></code>
        ${one.via ? html`<span class="fine"> ${STRINGS.by} <${Exact} text=${one.via} /></span>` : null} <${Risk} risk=${one.risk} />
        ${one.risk.level !== "low" && one.risk.reasons.length ? html`<span class="fine"><${Exact} text=${one.risk.reasons[0]} /></span>` : null}
      </li>`
    )}
    ${parts.more ? html`<li class="fine">${parts.more} ${STRINGS.moreParts}</li>` : null}
  </ol>`;
}

/** What the rules say, in one line. @param {any} rule */
export function ruleWords(rule) {
  if (rule.effect) return [`${rule.effect}: ${rule.rules.join(", ")}`, ...rule.reasons].join(" · ");
  const own = rule.own_allows.length ? [`${STRINGS.ownAllows}: ${rule.own_allows.join(", ")}`] : [];
  return [rule.reasons.join(" · ") || STRINGS.noRule, ...own].join(" · ");
}
