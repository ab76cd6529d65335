"""The nine keys of a page: what each shows, what it does, and its revision, which changes with either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import asdict, replace

from quarterdeck.core.deck.routes import NOT_KNOWN
from quarterdeck.core.deck.shown_request import ANSWERS, KeyDecision, key_decision, next_request, shown_request
from quarterdeck.core.deck.shown_session import shown_session
from quarterdeck.core.engine.deck_layout import SLOTS, DeckLayout, DeckPage, DeckSlot, KeyAction
from quarterdeck.core.model.payload import sha256_of
from quarterdeck.core.model.state import Request, Session, State
from quarterdeck.core.model.tool_use import is_within
from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.sanitize import one_line

LABEL = 40
"""Characters of a label: a key has room for two short lines."""
REVISION = 16
"""Characters of a key's revision. That of a page is those of its keys, one after another."""


class KeyWords(NamedTuple):
    """How a key with an action looks."""

    label: str
    colour: str
    glyph: str


KEY_WORDS: Mapping[KeyAction, KeyWords] = {
    KeyAction.ALLOW: KeyWords("Allow", "green", "✓"),
    KeyAction.DENY: KeyWords("Deny", "red", "✗"),
    KeyAction.ALWAYS: KeyWords("Always", "yellow", "∞"),
    KeyAction.NEXT: KeyWords("Next", "blue", "»"),
    KeyAction.ANSWER_1: KeyWords("Answer 1", "cyan", "①"),
    KeyAction.ANSWER_2: KeyWords("Answer 2", "cyan", "②"),
    KeyAction.ANSWER_3: KeyWords("Answer 3", "cyan", "③"),
    KeyAction.ANSWER_4: KeyWords("Answer 4", "cyan", "④"),
    KeyAction.INTERRUPT: KeyWords("Interrupt", "red", "■"),
    KeyAction.ENTER: KeyWords("Enter", "white", "⏎"),
    KeyAction.ESC: KeyWords("Esc", "white", "⎋"),
    KeyAction.CTRL_C: KeyWords("Ctrl-C", "red", "^C"),
    KeyAction.EXPORT: KeyWords("Export", "white", "⇩"),
}
BUTTONS = (KeyAction.ENTER, KeyAction.ESC, KeyAction.CTRL_C, KeyAction.EXPORT)
"""The actions of the buttons beside the dial."""
DECIDING = frozenset({KeyAction.ALLOW, KeyAction.DENY, *ANSWERS})
ABOUT_REQUESTS = DECIDING | {KeyAction.ALWAYS, KeyAction.NEXT}


class KeyView(Struct, frozen=True, kw_only=True):
    """One key. `kind` is prompt, gate, decision or empty. A key that is not `enabled` says why in `reason`; one with
    `hold` must be held down. `request_id` and `digest` are what it decides; `revision` is sent back with a press."""

    slot: int
    kind: str = "empty"
    prompt_id: str | None = None
    action: str | None = None
    label: str = ""
    sublabel: str = ""
    colour: str = "none"
    glyph: str = ""
    armed: bool = False
    enabled: bool = False
    reason: str | None = None
    hold: bool = False
    request_id: str | None = None
    digest: str | None = None
    revision: str = ""


def pages_of(layout: DeckLayout, session: Session | None) -> tuple[DeckPage, ...]:
    """The pages for a session: those of its project, the innermost folder that has some, or the usual ones."""
    cwd = session.context.cwd if session is not None else ""
    folders = [folder for folder in layout.projects if cwd and is_within(cwd, folder)]
    return layout.projects[max(folders, key=len)] if folders else layout.pages


def page_of(state: State, layout: DeckLayout, session: Session | None) -> tuple[DeckPage, int, int]:
    """The page that is shown, its number from 0, and how many there are."""
    pages = pages_of(layout, session)
    index = state.deck.page % len(pages)
    return pages[index], index, len(pages)


def key_views(state: State, layout: DeckLayout, at: float) -> list[KeyView]:
    """The nine keys as they are now."""
    session = shown_session(state, at)
    page, _, _ = page_of(state, layout, session)
    request = shown_request(state)
    keys = [_key(state, layout, session, request, slot, page.slots[slot]) for slot in range(SLOTS)]
    return [replace(key, revision=_revision(key)) for key in keys]


def page_revision(keys: list[KeyView]) -> str:
    """The revision of all keys at once."""
    return "".join(key.revision for key in keys)


def is_current(key: KeyView, revision: str) -> bool:
    """True if the key still shows what it showed at this revision: its own, or one of a whole page."""
    if len(revision) == REVISION * SLOTS:
        return revision[key.slot * REVISION : (key.slot + 1) * REVISION] == key.revision
    return revision == key.revision


def _revision(key: KeyView) -> str:
    return sha256_of(asdict(key)).hex()[:REVISION]


def _key(
    state: State, layout: DeckLayout, session: Session | None, request: Request | None, slot: int, spec: DeckSlot
) -> KeyView:
    if spec.prompt is not None:
        return prompt_key(state, layout, slot, spec.prompt)
    if spec.gate is not None:
        gate = layout.gates[spec.gate]
        key = _action_key(state, session, request, slot, gate.action)
        return replace(key, kind="gate", label=_words(gate.label), sublabel=_words(gate.sublabel) or key.sublabel)
    if spec.decision is not None:
        return _action_key(state, session, request, slot, spec.decision)
    return KeyView(slot=slot)


def prompt_key(state: State, layout: DeckLayout, slot: int, prompt_id: str) -> KeyView:
    """The key of a prompt. Only the prompt that is armed shows as armed."""
    prompt, armed = layout.prompts[prompt_id], state.deck.armed
    is_armed = armed is not None and armed.prompt_id == prompt_id
    return KeyView(
        slot=slot,
        kind="prompt",
        prompt_id=prompt_id,
        label=_words(prompt.label),
        sublabel=_words(prompt.sublabel),
        colour="yellow" if is_armed else "white",
        glyph="▶" if is_armed else "",
        armed=is_armed,
        enabled=True,
    )


def _action_key(
    state: State, session: Session | None, request: Request | None, slot: int, action: KeyAction
) -> KeyView:
    words = KEY_WORDS[action]
    what = _doing(state, session, request, action)
    is_about = action in ABOUT_REQUESTS and request is not None
    return KeyView(
        slot=slot,
        kind="decision",
        action=action.value,
        label=words.label,
        sublabel=_sublabel(state, request, action),
        colour=words.colour,
        glyph=words.glyph,
        armed=action is KeyAction.ALWAYS and request is not None and state.deck.always_for == request.request_id,
        enabled=what.reason is None,
        reason=what.reason,
        hold=what.hold,
        request_id=request.request_id if is_about and request is not None else None,
        digest=request.digest if is_about and request is not None else None,
    )


def _doing(state: State, session: Session | None, request: Request | None, action: KeyAction) -> KeyDecision:
    """What an action would do now, or why it would do nothing."""
    if action in DECIDING:
        return key_decision(state, request, action)
    match action:
        case KeyAction.ALWAYS:
            allow = key_decision(state, request, KeyAction.ALLOW)
            is_toggled = request is not None and state.deck.always_for == request.request_id
            is_tool = request is not None and request.kind == "permission"
            if request is not None and not is_tool:
                return KeyDecision(reason="only the allow of a tool can become a rule")
            return KeyDecision(reason=None if is_toggled else allow.reason)
        case KeyAction.NEXT:
            following = next_request(state)
            is_alone = following is not None and following is request
            return KeyDecision(reason="no request waits" if request is None else "no other waits" if is_alone else None)
        case KeyAction.ESC:
            return KeyDecision(reason=None if state.deck.armed is not None else _why_no_session(session))
        case _:
            return KeyDecision(reason=_why_no_session(session))


def _why_no_session(session: Session | None) -> str | None:
    if session is None:
        return NOT_KNOWN
    return "the session has ended" if session.ended_at is not None else None


def _sublabel(state: State, request: Request | None, action: KeyAction) -> str:
    """What a decision key would decide, in the words that fit on it."""
    if request is None or action not in ABOUT_REQUESTS:
        return ""
    if action in ANSWERS:
        answer = key_decision(state, request, action).decision
        return _words(str(next(iter(getattr(answer, "answers", {}).values()), "")))
    if action is KeyAction.NEXT:
        waiting = sum(1 for one in state.requests.values() if one.status == "pending")
        return f"{waiting} wait" if waiting > 1 else ""
    return _words(request.tool_name)


def _words(text: str) -> str:
    return cut(one_line(text), LABEL)
