"""The model that every deck draws, computed from the state and `deck.yaml` alone."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.core.deck.keys import BUTTONS, KEY_WORDS, KeyView, key_views, page_of, page_revision
from quarterdeck.core.deck.routes import DeckRoute, route_to
from quarterdeck.core.deck.shown_request import (
    MOST_WAITING,
    ShownRequestView,
    WaitingRequestView,
    shown_request,
    shown_view,
    waiting_requests,
    waiting_view,
)
from quarterdeck.core.deck.shown_session import (
    ENDED_SECONDS,
    hooks_mode,
    selected_target,
    shown_session,
    shown_state,
    targets,
)
from quarterdeck.core.engine.deck_layout import DeckLayout, DeckPrompt, KeyAction
from quarterdeck.core.model.runtime_event import FIRST_AGENT
from quarterdeck.core.model.state import Session, State
from quarterdeck.core.text.sanitize import one_line

MODEL_VERSION = 1


class ShownStateView(Struct, frozen=True, kw_only=True):
    """The shown session and its state. `source` is hooks, process, operator or none; `since` is a time in seconds, so
    that a deck can show the age; 0 when that is not known."""

    session_id: str | None
    title: str
    project: str
    source: str
    since: float


class ArmedView(Struct, frozen=True, kw_only=True):
    """The armed prompt, and the text that Enter would send."""

    prompt_id: str
    label: str
    style: str
    command: str


class KeypadView(Struct, frozen=True, kw_only=True):
    slots: list[KeyView]


class ButtonView(Struct, frozen=True, kw_only=True):
    """A button, the dial or the roller: what it does now, or the reason why it does nothing."""

    label: str
    does: str
    enabled: bool
    reason: str | None = None


class DialView(Struct, frozen=True, kw_only=True):
    mode: str
    dial: ButtonView
    roller: ButtonView


class SelectedView(Struct, frozen=True, kw_only=True):
    """What the roller or the editor chose: a terminal or a session."""

    what: str
    id: str
    name: str


class DispatchView(Struct, frozen=True, kw_only=True):
    """The last text that was sent: sending, delivered, or undelivered and why."""

    message_id: str
    session_id: str
    route: str
    outcome: str
    at: float
    prompt_id: str | None
    reason: str | None


class RenderModel(Struct, frozen=True, kw_only=True):
    """Everything that a deck shows. `revision` is that of all keys, `problem` what is wrong with `deck.yaml`."""

    version: int
    agent_state: str
    state: ShownStateView
    hooks_mode: str
    armed: ArmedView | None
    keypad: KeypadView
    page_index: int
    page_count: int
    page_name: str
    waiting: list[WaitingRequestView]
    waiting_count: int
    request: ShownRequestView | None
    buttons: dict[str, ButtonView]
    dial: DialView
    selected: SelectedView | None
    dispatch: DispatchView | None
    problem: str
    revision: str


def render_model(state: State, layout: DeckLayout, at: float) -> RenderModel:
    """The model at a time; the same state, layout and time give the same model."""
    session = shown_session(state, at)
    shown = shown_state(session)
    page, index, count = page_of(state, layout, session)
    keys = key_views(state, layout, at)
    waiting = waiting_requests(state)
    request = shown_request(state)
    target = selected_target(state)
    return RenderModel(
        version=MODEL_VERSION,
        agent_state=shown.agent_state.value,
        state=ShownStateView(
            session_id=session.session_id if session else None,
            title=one_line(session.title) if session else "",
            project=one_line(session.context.cwd.rstrip("/").rpartition("/")[2]) if session else "",
            source=shown.source,
            since=shown.since,
        ),
        hooks_mode=hooks_mode(session),
        armed=_armed_view(state, layout, session),
        keypad=KeypadView(slots=keys),
        page_index=index,
        page_count=count,
        page_name=one_line(page.name),
        waiting=[waiting_view(state, one) for one in waiting[:MOST_WAITING]],
        waiting_count=len(waiting),
        request=shown_view(state, request) if request is not None else None,
        buttons={button.value: _button(state, layout, session, button) for button in BUTTONS},
        dial=_dial_view(state, layout),
        selected=SelectedView(what=target.what, id=target.id, name=one_line(target.name)) if target else None,
        dispatch=_dispatch_view(state),
        problem=one_line(layout.problem),
        revision=page_revision(keys),
    )


def changes_at(state: State, at: float) -> float | None:
    """When the model changes by time alone: a session that ended last is shown for a while."""
    session = shown_session(state, at)
    return None if session is None or session.ended_at is None else session.ended_at + ENDED_SECONDS


def is_first_agent(session: Session | None) -> bool:
    """True for the agent that `claude_command` is meant for, and not for a plain shell."""
    return session is None or (session.agent == FIRST_AGENT and not (session.owned is not None and session.owned.shell))


def armed_prompt(state: State, layout: DeckLayout) -> tuple[str, DeckPrompt] | None:
    """The armed prompt, as long as the layout has it."""
    armed = state.deck.armed
    prompt = layout.prompts.get(armed.prompt_id) if armed is not None else None
    return (armed.prompt_id, prompt) if armed is not None and prompt is not None else None


def _armed_view(state: State, layout: DeckLayout, session: Session | None) -> ArmedView | None:
    found = armed_prompt(state, layout)
    if found is None:
        return None
    prompt_id, prompt = found
    command = prompt.effective_command(is_claude=is_first_agent(session))
    return ArmedView(prompt_id=prompt_id, label=one_line(prompt.label), style=prompt.style, command=one_line(command))


def _button(state: State, layout: DeckLayout, session: Session | None, button: KeyAction) -> ButtonView:
    label = KEY_WORDS[button].label
    armed = armed_prompt(state, layout)
    if button is KeyAction.ESC and armed is not None:
        more = ", and interrupts the session" if layout.esc_when_pending == "cancel_and_passthrough" else ""
        return ButtonView(label=label, does=f"disarms {armed[0]}{more}", enabled=True)
    route = route_to(state, session)
    does = {
        KeyAction.ENTER: f"sends {armed[0]}" if armed is not None else "presses Enter in the terminal",
        KeyAction.ESC: "interrupts the session",
        KeyAction.CTRL_C: "interrupts the session",
    }.get(button, "sends /export")
    reason = route if isinstance(route, str) else _enter_reason(button, armed is not None, route)
    return ButtonView(label=label, does=does, enabled=reason is None, reason=reason)


def _enter_reason(button: KeyAction, is_armed: bool, route: DeckRoute) -> str | None:
    """Only an editor passes on a bare Enter: the other routes take whole prompts."""
    return BARE_ENTER if button is KeyAction.ENTER and not is_armed and route.name != "editor" else None


BARE_ENTER = "nothing is armed"


def _dial_view(state: State, layout: DeckLayout) -> DialView:
    found, target = targets(state), selected_target(state)
    scrolls = layout.dial_mode == "vscode_terminal_scroll"
    is_terminal = target is not None and target.what == "terminal"
    why = "select a terminal of an editor first"
    return DialView(
        mode=layout.dial_mode,
        dial=ButtonView(
            label="Dial",
            does="scrolls the terminal" if scrolls else "scrolls what is below the pointer, by the system",
            enabled=is_terminal or not scrolls,
            reason=why if scrolls and not is_terminal else None,
        ),
        roller=ButtonView(
            label="Roller",
            does="selects the next terminal or session",
            enabled=len(found) > 1,
            reason=None if len(found) > 1 else "there is nothing else to select",
        ),
    )


def _dispatch_view(state: State) -> DispatchView | None:
    last = state.deck.dispatch
    if last is None:
        return None
    return DispatchView(
        message_id=last.message_id,
        session_id=last.session_id,
        route=last.route,
        outcome=last.outcome,
        at=last.at,
        prompt_id=last.prompt_id,
        reason=None if last.reason is None else one_line(last.reason),
    )
