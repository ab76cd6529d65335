"""A scene with a key deck: presses, turns, an editor's terminals, and what the deck then shows."""

from __future__ import annotations

from typing import Any, Self

from quarterdeck.core.deck.keys import KeyView
from quarterdeck.core.deck.render_model import RenderModel, render_model
from quarterdeck.core.engine.deck_layout import DeckGate, DeckLayout, DeckPage, DeckPrompt, DeckSlot, KeyAction
from quarterdeck.core.engine.deck_messages import (
    DispatchEnded,
    EditorCommand,
    PressButton,
    PressKey,
    SeenTerminal,
    TerminalsSeen,
    TurnDial,
    TurnPage,
)
from quarterdeck.core.engine.messages import CommandReply, ProcessGone, ProcessSeen, TrustProject
from quarterdeck.core.engine.session_messages import AgentStarted, DeliverPrompt, StartSession
from quarterdeck.core.model.state import ProcessId
from tests.support.scene import Scene

PROMPTS = {
    "tests": DeckPrompt(label="Run tests", claude_command="/test", fallback_text="Run the tests."),
    "review": DeckPrompt(label="Review", fallback_text="Review the diff.", style="prefill"),
}
DECISIONS = ("allow", "deny", "always", "next", "answer_1", "answer_2", "answer_3", "answer_4", "interrupt")
NO_KEY = DeckSlot()
LAYOUT = DeckLayout(
    pages=(
        DeckPage(slots=(DeckSlot(prompt="tests"), DeckSlot(prompt="review"), DeckSlot(gate="stop"), *[NO_KEY] * 6)),
        DeckPage(slots=tuple(DeckSlot(decision=KeyAction(word)) for word in DECISIONS), name="Decide"),
        DeckPage(slots=(DeckSlot(prompt="tests"), *[DeckSlot(decision=KeyAction(w)) for w in DECISIONS[:8]])),
    ),
    prompts=PROMPTS,
    gates={"stop": DeckGate(label="Stop it", action=KeyAction.INTERRUPT)},
)
"""Page 0 has prompts, page 1 the decisions, page 2 both."""


class DeckScene(Scene):
    """A scene that keeps a deck. `layout` may be replaced, as when the file is edited."""

    def __init__(self, layout: DeckLayout = LAYOUT, **settings: Any) -> None:
        super().__init__(**settings)
        self.layout = layout

    @property
    def model(self) -> RenderModel:
        return render_model(self.state, self.layout, self.clock)

    @property
    def reply(self) -> CommandReply:
        [reply] = self.effects(CommandReply)
        return reply

    @property
    def shows(self) -> tuple[str, str]:
        """The state and the hooks mode that the deck shows."""
        return self.model.agent_state, self.model.hooks_mode

    @property
    def editor_commands(self) -> list[EditorCommand]:
        return self.effects(EditorCommand)

    def key(self, name: str) -> KeyView:
        """The key with this prompt or action on the page that is shown."""
        return next(key for key in self.model.keypad.slots if name in (key.prompt_id, key.action))

    def page(self, number: int) -> Self:
        while self.model.page_index != number:
            self.turns_page(1)
        return self

    def _common(self, **more: Any) -> dict[str, Any]:
        self.clock += 1
        return {"by": "ann via deck", "at": self.clock, "layout": self.layout, "message_id": f"m{self.clock:g}", **more}

    def presses(self, name: str, *, revision: str | None = None, held: bool = False, **more: Any) -> Self:
        """Press the key with this prompt or action, as it shows now or at a revision."""
        key = self.key(name)
        common = self._common(**more)
        seen = revision or key.revision
        return self.submits(PressKey(slot=key.slot, revision=seen, held=held, rule_id="r1", **common))

    def presses_slot(self, slot: int | None, *, revision: str | None = None, **more: Any) -> Self:
        return self.submits(PressKey(slot=slot, revision=revision, **self._common(**more)))

    def presses_button(self, button: str, **more: Any) -> Self:
        return self.submits(PressButton(button=KeyAction(button), **self._common(**more)))

    def turns(self, control: str, delta: int = 1) -> Self:
        return self.submits(TurnDial(control=control, delta=delta, **self._common()))

    def turns_page(self, step: int) -> Self:
        return self.submits(TurnPage(step=step, **self._common()))

    def sees_terminals(self, *terminals: SeenTerminal, client_id: str = "code") -> Self:
        self.clock += 1
        seen = TerminalsSeen(client_id=client_id, terminals=terminals, by="ann", at=self.clock)
        return self.submits(seen)

    def dispatch_ends(self, error: str | None = None) -> Self:
        assert self.state.deck.dispatch is not None
        self.clock += 1
        return self.submits(DispatchEnded(message_id=self.state.deck.dispatch.message_id, error=error, at=self.clock))

    def acknowledged(self) -> Self:
        return self.dispatch_ends()

    def process_seen(self, status: str, *, session: str = "s1", after: float = 0.0, pid: int = 7) -> Self:
        """The agent's process file, with a status that has been there for `after` seconds."""
        changed_at = self.clock = self.clock + 1
        self.clock += after
        seen = ProcessSeen(
            session_id=session, status=status, changed_at=changed_at, process=ProcessId(pid, "1"), at=self.clock
        )
        return self.submits(seen)

    def process_gone(self, session: str = "s1", pid: int = 7) -> Self:
        self.clock += 1
        return self.submits(ProcessGone(session_id=session, process=ProcessId(pid, "1"), at=self.clock))

    def submits_owned(self, mode: str, session: str = "own", **more: Any) -> Self:
        """A session of Quarterdeck that is up, and whose hooks have not reported anything."""
        self.clock += 1
        self.submits(TrustProject(path="/w/app", trust="full", by="ann", at=self.clock))
        start = StartSession(session_id=session, mode=mode, cwd="/w/app", by="ann", at=self.clock, **more)
        return self.submits(start).submits(AgentStarted(session_id=session, at=self.clock))

    def delivers(self) -> list[str]:
        """The prompts that this step hands to a session."""
        return [effect.send.prompt for effect in self.effects(DeliverPrompt)]
