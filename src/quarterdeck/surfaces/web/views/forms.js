// What a button of a card opens: a message, an edit, a rule, an answer. What was typed stays until it was sent.
import { post } from "../lib/connection.js";
import { readDraft, writeDraft } from "../lib/drafts.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/html.js";
import { PLAN_MODES } from "../lib/labels.js";
import { kept, readFields, readQuestions } from "../lib/shapes.js";
import { SCOPES, STRINGS, TIMES } from "../lib/strings.js";
import { spelled } from "../lib/text.js";
import { Exact } from "./parts.js";

/** What was typed into a form of a request; it survives a reload. @param {any} card @param {string} form @param {any} empty */
function useDraft(card, form, empty) {
  const key = `${card.request_id} ${form}`;
  const [value, setValue] = useState(() => readDraft(key, empty));
  return [
    value,
    (/** @type {any} */ next) => {
      writeDraft(key, next);
      setValue(next);
    },
  ];
}

/** Puts the focus into a form as it opens, before the next key arrives. */
function useFocus() {
  const field = useRef(/** @type {any} */ (null));
  useLayoutEffect(() => field.current && field.current.focus(), []);
  return field;
}

/** @param {any} props */
export function Message({ card, decide, close, sending, kind }) {
  const [text, setText] = useDraft(card, kind, "");
  const field = useFocus();
  const body = { decision: kind, ...(text.trim() ? { message: text } : {}) };
  const needs = kind === "block" && !text.trim();
  return html`<form class="form" onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), needs || decide(body))}>
    <label>${kind === "block" ? STRINGS.blockWhy : STRINGS.denyWhy}
      <textarea ref=${field} rows="3" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)}></textarea>
    </label>
    <div class="actions">
      <button type="button" class="quiet" onClick=${close}>${STRINGS.cancel}</button>
      ${kind === "deny" && card.kind !== "stop"
        ? html`<button type="button" disabled=${sending} onClick=${() => decide({ ...body, interrupt: true })}>${STRINGS.denyStop}</button>`
        : null}
      <button type="submit" class="deny" disabled=${sending || needs}>${kind === "block" ? STRINGS.block : STRINGS.denySend}</button>
    </div>
  </form>`;
}

/** @param {any} props */
export function Edit({ card, decide, close, sending, blocked }) {
  const plain = Object.keys(card.tool_input).length >= 1 && typeof card.tool_input.command === "string";
  const [text, setText] = useDraft(card, `edit ${card.digest} ${Boolean(card.truncated)}`, plain ? card.tool_input.command : JSON.stringify(card.tool_input, null, 2));
  const [problem, setProblem] = useState("");
  const field = useFocus();
  function send(/** @type {Event} */ event) {
    event.preventDefault();
    let input = { ...card.tool_input, command: text };
    try {
      if (!plain) input = JSON.parse(text);
    } catch (error) {
      return setProblem(`${STRINGS.noJson}: ${/** @type {Error} */ (error).message}`);
    }
    if (typeof input !== "object" || input === null || Array.isArray(input)) return setProblem(STRINGS.noObject);
    if (JSON.stringify(input) === JSON.stringify(card.tool_input)) return setProblem(STRINGS.unchanged);
    setProblem("");
    decide({ decision: "allow", updated_input: input });
  }
  return html`<form class="form" onSubmit=${send}>
    <label>${plain ? STRINGS.command : STRINGS.json}
      <textarea ref=${field} class="code" rows="8" spellcheck="false" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)}></textarea>
    </label>
    ${problem ? html`<p class="problem" role="alert"><${Exact} text=${problem} /></p>` : null}
    ${blocked.trim() ? html`<p class="fine">${blocked}</p>` : null}
    <div class="actions">
      <button type="button" class="quiet" onClick=${close}>${STRINGS.cancel}</button>
      <button type="submit" class="allow" disabled=${sending || blocked !== ""}>${STRINGS.editAllow}</button>
    </div>
  </form>`;
}

/** @param {any} props */
export function Plan({ card, decide, close, sending }) {
  const [mode, setMode] = useState("default");
  return html`<form class="form" onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), decide({ decision: "allow", mode }))}>
    <label>${STRINGS.planMode}
      <select value=${mode} onChange=${(/** @type {any} */ event) => setMode(event.target.value)}>
        ${PLAN_MODES.map((one) => html`<option value=${one}>${one}</option>`)}
      </select>
    </label>
    <div class="actions">
      <button type="button" class="quiet" onClick=${close}>${STRINGS.cancel}</button>
      <button type="submit" class="allow" disabled=${sending}>${STRINGS.approve}</button>
    </div>
  </form>`;
}

/** @param {any} props */
export function Remember({ card, decide, close, sending, blocked }) {
  const patterns = (card.rule && card.rule.patterns) || [];
  const [rule, setRule] = useDraft(card, "remember", { effect: "allow", pattern: patterns[0] || "", scope: "session", expires: "" });
  const [past, setPast] = useState("");
  const set = (/** @type {string} */ name) => (/** @type {any} */ event) => setRule({ ...rule, [name]: event.target.value });
  useEffect(() => {
    let live = true;
    if (!rule.pattern) return setPast("");
    setPast(STRINGS.trying);
    simulate(rule, card).then((words) => live && setPast(words), (error) => live && setPast(error.message));
    return () => { live = false; };
  }, [rule.pattern, rule.effect, rule.scope]);
  const allows = rule.effect === "allow";
  const body = {
    decision: rule.effect,
    remember: { scope: rule.scope, pattern: rule.pattern, ...(rule.expires ? { expires: rule.expires } : {}) },
  };
  return html`<form class="form sentence" onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), decide(body))}>
    <p>${STRINGS.always}
      <select aria-label=${STRINGS.effect} value=${rule.effect} onChange=${set("effect")}><option value="allow">${STRINGS.effectAllow}</option><option value="deny">${STRINGS.effectDeny}</option></select>
      <input aria-label=${STRINGS.pattern} list=${`patterns-${card.request_id}`} value=${rule.pattern} onInput=${set("pattern")} spellcheck="false" />
      <datalist id=${`patterns-${card.request_id}`}>${patterns.map((/** @type {string} */ one) => html`<option value=${one}></option>`)}</datalist>
      <select aria-label=${STRINGS.scope} value=${rule.scope} onChange=${set("scope")}>${SCOPES.map(([value, words]) => html`<option value=${value}>${words}</option>`)}</select>
      <select aria-label=${STRINGS.expires} value=${rule.expires} onChange=${set("expires")}>${TIMES.map(([value, words]) => html`<option value=${value}>${words}</option>`)}</select>
    </p>
    ${card.rule && card.rule.trust === null && rule.scope === "project"
      ? html`<p class="fine">${STRINGS.makesTrusted}</p>`
      : null}
    <p class="fine" aria-live="polite"><${Exact} text=${past} /></p>
    ${allows && blocked.trim() ? html`<p class="fine">${blocked}</p>` : null}
    <div class="actions">
      <button type="button" class="quiet" onClick=${close}>${STRINGS.cancel}</button>
      <button type="submit" class=${allows ? "allow" : "deny"} disabled=${sending || !rule.pattern || (allows && blocked !== "")}>
        ${allows ? STRINGS.allowAndRule : STRINGS.denyAndRule}
      </button>
    </div>
  </form>`;
}

/** What a rule would have done to past requests, in words. @param {any} rule @param {any} card */
async function simulate(rule, card) {
  const body = { effect: rule.effect, pattern: rule.pattern, scope: "user", limit: 1000 };
  const result = await post("/rules/simulate", body);
  if (!result.seen) return STRINGS.noPast;
  const surprises = result.surprises.length ? `; you decided ${result.surprises.length} of them otherwise` : "";
  return `Of the last ${result.seen} requests it would have decided ${result.decided}${surprises}.`;
}

/** Questions, or the form of an MCP server. @param {any} props */
export function Answer({ card, decide, sending }) {
  return card.form === "questions" ? html`<${Questions} ...${{ card, decide, sending }} />` : html`<${Fields} ...${{ card, decide, sending }} />`;
}

const NOTHING = { chosen: /** @type {any[]} */ ([]), own: "", note: "" };

/** @param {any} props */
function Questions({ card, decide, sending }) {
  const questions = readQuestions(card.tool_input);
  const [given, setGiven] = useDraft(card, "answers", {});
  const [problem, setProblem] = useState("");
  const change = (/** @type {string} */ question, /** @type {any} */ next) => setGiven({ ...given, [question]: { ...kept(given, question, NOTHING), ...next } });
  function send(/** @type {Event} */ event) {
    event.preventDefault();
    const answers = [];
    const notes = [];
    for (const one of questions) {
      const mine = kept(given, one.question, NOTHING);
      const all = [...mine.chosen, ...(mine.own.trim() ? [mine.own.trim()] : [])];
      if (!all.length) return setProblem(`${STRINGS.notAnswered}: ${one.question}`);
      answers.push([one.question, one.several ? all : all[all.length - 1]]);
      if (mine.note.trim()) notes.push([one.question, mine.note]);
    }
    decide({ decision: "answer", answers: Object.fromEntries(answers), ...(notes.length ? { notes: Object.fromEntries(notes) } : {}) });
  }
  return html`<form class="form" onSubmit=${send}>
    ${questions.map((one) => {
      const mine = kept(given, one.question, NOTHING);
      const choose = (/** @type {any} */ label) => (/** @type {any} */ event) => {
        const others = one.several ? mine.chosen.filter((/** @type {any} */ other) => other !== label) : [];
        change(one.question, { chosen: event.target.checked ? [...others, label] : others, ...(one.several ? {} : { own: "" }) });
      };
      return html`<fieldset>
        <legend>${one.header ? html`<span class="fine"><${Exact} text=${one.header} /> · </span>` : null}<${Exact} text=${one.question} />${one.several ? html` <span class="fine">${STRINGS.several}</span>` : null}</legend>
        ${one.options.map((option) => html`<label class="choice">
          <input type=${one.several ? "checkbox" : "radio"} name=${`${card.request_id} ${one.question}`} checked=${mine.chosen.includes(option.label)} onChange=${choose(option.label)} />
          <span><b><${Exact} text=${option.name} /></b>${option.description ? html` <span class="fine"><${Exact} text=${option.description} /></span>` : null}</span>
        </label>`)}
        <label class="own">${STRINGS.yourOwn}
          <input value=${mine.own} onInput=${(/** @type {any} */ event) => change(one.question, { own: event.target.value, ...(one.several ? {} : { chosen: [] }) })} />
        </label>
        <label class="own">${STRINGS.note}
          <input value=${mine.note} onInput=${(/** @type {any} */ event) => change(one.question, { note: event.target.value })} />
        </label>
      </fieldset>`;
    })}
    ${problem ? html`<p class="problem" role="alert"><${Exact} text=${problem} /></p>` : null}
    <div class="actions"><button type="submit" class="allow" disabled=${sending}>${STRINGS.answer}</button></div>
  </form>`;
}

/** @param {any} props */
function Fields({ card, decide, sending }) {
  const fields = readFields(card.tool_input.requested_schema);
  const [given, setGiven] = useDraft(card, "fields", {});
  const set = (/** @type {string} */ name, /** @type {any} */ value) => setGiven({ ...given, [name]: value });
  function send(/** @type {Event} */ event) {
    event.preventDefault();
    const answers = [];
    for (const { name, kind, choices, start } of fields) {
      const value = kept(given, name, start);
      if (value === "" || (kind === "array" && !value.length && !Object.hasOwn(given, name))) continue;
      const chosen = choices && kind !== "array" ? choices.find((one) => String(one.value) === String(value)) : undefined;
      answers.push([name, chosen ? chosen.value : kind === "number" || kind === "integer" ? Number(value) : value]);
    }
    decide({ decision: "answer", answers: Object.fromEntries(answers) });
  }
  return html`<form class="form" onSubmit=${send}>
    ${fields.map((field) => {
      const { name, kind, choices } = field;
      const label = html`<${Exact} text=${field.title} />${field.required ? html` <span class="fine">(${STRINGS.required})</span>` : null}${field.description ? html` <span class="fine"><${Exact} text=${field.description} /></span>` : null}`;
      const value = kept(given, name, field.start);
      if (kind === "boolean")
        return html`<label class="choice"><input type="checkbox" checked=${value === true} onChange=${(/** @type {any} */ event) => set(name, event.target.checked)} /><span>${label}</span></label>`;
      if (kind === "array")
        return html`<fieldset><legend>${label}</legend>${(choices || []).map((one) => html`<label class="choice"><input type="checkbox" checked=${value.includes(one.value)} onChange=${(/** @type {any} */ event) =>
          set(name, event.target.checked ? [...value, one.value] : value.filter((/** @type {any} */ other) => other !== one.value))} /><span><${Exact} text=${one.label} /></span></label>`)}</fieldset>`;
      if (choices)
        return html`<label>${label}<select value=${value} onChange=${(/** @type {any} */ event) => set(name, event.target.value)}><option value=""></option>${choices.map((one) => html`<option value=${String(one.value)}>${spelled(one.label)}</option>`)}</select></label>`;
      const type = kind === "integer" ? "number" : kind === "string" ? "text" : kind;
      return html`<label>${label}<input type=${type} step=${kind === "integer" ? 1 : "any"} value=${value} onInput=${(/** @type {any} */ event) => set(name, event.target.value)} /></label>`;
    })}
    <div class="actions"><button type="submit" class="allow" disabled=${sending}>${STRINGS.answer}</button></div>
  </form>`;
}
