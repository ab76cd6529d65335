"""The pages, the dial and the roller of a deck, and the terminals that an editor reports."""

from __future__ import annotations

from quarterdeck.core.deck.keys import page_of
from quarterdeck.core.deck.shown_session import selected_target, shown_session, targets
from quarterdeck.core.engine.deck_messages import EditorCommand, SeenTerminal, TerminalsSeen, TurnDial, TurnPage
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers.deck.presses import replied
from quarterdeck.core.handlers.deck.text_delivery import record_end
from quarterdeck.core.handlers.session_commands import CommandRefusal
from quarterdeck.core.model.event_data.deck_data import (
    OperatorArmData,
    OperatorPageData,
    OperatorSelectData,
    TerminalData,
)
from quarterdeck.core.model.events import USER
from quarterdeck.core.model.payload import sha256_of, shared_fields
from quarterdeck.core.model.state import EditorTerminal

AFTER_RESTART = "Quarterdeck restarted before it knew; look at the session before you send it again"


@replied
def turn_page(step: Step, turn: TurnPage) -> bool:
    """Turn the page, around the ends. What was armed on the page before is not armed any more."""
    state = step.draft.finish()
    _, index, count = page_of(state, turn.layout, shown_session(state, turn.at))
    if count > 1:
        if step.draft.deck.armed is not None:
            step.emit_own("operator.arm", OperatorArmData(by=turn.by), actor=USER)
        page = (index + turn.step) % count
        step.emit_own("operator.page", OperatorPageData(page=page, by=turn.by), actor=USER)
    return False


@replied
def turn_dial(step: Step, turn: TurnDial) -> bool:
    """Scroll by the dial, or choose the next terminal or session by the roller."""
    if turn.control == "roller":
        _roll(step, turn)
    elif turn.layout.dial_mode == "vscode_terminal_scroll":
        _scroll(step, turn)
    return False


def _scroll(step: Step, turn: TurnDial) -> None:
    target = selected_target(step.draft.finish())
    if target is None or target.what != "terminal":
        raise CommandRefusal("not_possible", "select a terminal of an editor first")
    terminal = step.draft.deck.terminals[target.id]
    step.effects.append(_to_editor("scroll_terminal", terminal, lines=turn.delta))


def _roll(step: Step, turn: TurnDial) -> None:
    state = step.draft.finish()
    found = targets(state)
    if not found:
        raise CommandRefusal("not_possible", "there is no terminal and no session to select")
    now = selected_target(state)
    ids = [(one.what, one.id) for one in found]
    place = ids.index((now.what, now.id)) if now is not None and (now.what, now.id) in ids else None
    first = 0 if turn.delta > 0 else -1
    chosen = found[first if place is None else (place + turn.delta) % len(found)]
    data = OperatorSelectData(what=chosen.what, id=chosen.id, by=turn.by)
    step.emit_own("operator.select", data, actor=USER)
    if chosen.what == "terminal":
        step.effects.append(_to_editor("focus_terminal", state.deck.terminals[chosen.id]))


def _to_editor(kind: str, terminal: EditorTerminal, **more: object) -> EditorCommand:
    payload = {"pid": terminal.pid, "tag": terminal.tag, **more}
    return EditorCommand(client_id=terminal.client_id, kind=kind, target=terminal.terminal_id, payload=payload)


@replied
def see_terminals(step: Step, seen: TerminalsSeen) -> bool:
    """Record which terminals of an editor opened, changed or closed. They are known by process and tag: the order of
    the list changes when a window is loaded again."""
    known = {k: t for k, t in step.draft.deck.terminals.items() if t.client_id == seen.client_id}
    now = {_terminal_id(seen.client_id, one, known): one for one in seen.terminals}
    for terminal_id, terminal in known.items():
        if terminal_id not in now:
            _close(step, terminal)
    for terminal_id, one in now.items():
        before = known.get(terminal_id)
        tag = one.tag or (before.tag if before is not None else "")
        after = EditorTerminal(
            terminal_id=terminal_id,
            client_id=seen.client_id,
            pid=one.pid,
            tag=tag,
            name=one.name,
            active=one.active,
        )
        if after != before:
            step.emit_own("terminal.open", TerminalData(**shared_fields(after, TerminalData)), actor=USER)
    return False


def _terminal_id(client_id: str, seen: SeenTerminal, known: dict[str, EditorTerminal]) -> str:
    """The id of a terminal: that of the process it had before, or one made of its editor, tag and process."""
    for terminal_id, terminal in known.items():
        if seen.pid is not None and terminal.pid == seen.pid:
            return terminal_id
    return f"t{sha256_of([client_id, seen.tag, seen.pid]).hex()[:12]}"


def _close(step: Step, terminal: EditorTerminal) -> None:
    step.emit_own("terminal.close", TerminalData(**shared_fields(terminal, TerminalData)), actor=USER)


def forget_editors(step: Step) -> None:
    """After a restart no editor is connected yet, and the outcome of a text on its way will not be reported."""
    for terminal in list(step.draft.deck.terminals.values()):
        _close(step, terminal)
    last = step.draft.deck.dispatch
    if last is not None and last.outcome == "sending":
        record_end(step, last, AFTER_RESTART)
