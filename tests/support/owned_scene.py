"""A scene for story tests of owned sessions: commands, reports, effects."""

from __future__ import annotations

from typing import Any, Self

from msgspec.structs import replace

from quarterdeck.core.engine.messages import (
    CommandReply,
    HookReceived,
    TrustProject,
)
from quarterdeck.core.engine.session_messages import (
    AgentExited,
    AgentStarted,
    DeliverPrompt,
    EndAgent,
    InterruptAgent,
    Launch,
    PromptDelivered,
    ReconfigureAgent,
    SessionEffect,
    StartSession,
)
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import ProcessId
from tests.support.scene import Scene

SESSION_EFFECTS = (Launch, DeliverPrompt, InterruptAgent, EndAgent, ReconfigureAgent)
FOLDER = "/w/app"
PROCESS = ProcessId(7, "100")


class OwnedScene(Scene):
    """A scene with commands to owned sessions."""

    def trusts(self, path: str = FOLDER, trust: str = "full") -> Self:
        self.submits(TrustProject(path=path, trust=trust, by="ann", at=self.clock))
        return self

    def starts(self, session_id: str = "s1", mode: str = "sdk", **more: Any) -> Self:
        self.clock += 1
        fields = {"cwd": FOLDER, "by": "ann", "at": self.clock, **more}
        self.submits(StartSession(session_id=session_id, mode=mode, **fields))
        return self

    def is_up(self, mode: str = "sdk", **more: Any) -> Self:
        """A session that runs and has received its first prompt."""
        self.trusts().starts(mode=mode, prompt="go", **more)
        self.submits(
            AgentStarted(session_id="s1", at=self.clock, process=PROCESS, terminal=None if mode == "sdk" else "here")
        )
        self.submits(PromptDelivered(session_id="s1", at=self.clock))
        self.receives("SessionStart", source="startup").receives("UserPromptSubmit", prompt="go")
        return self

    def ends(self, **more: Any) -> Self:
        self.clock += 1
        self.submits(AgentExited(session_id="s1", at=self.clock, **more))
        return self

    @property
    def session_effects(self) -> list[SessionEffect]:
        return [effect for effect in self.last.effects if isinstance(effect, SESSION_EFFECTS)]

    @property
    def reply(self) -> CommandReply:
        return next(effect for effect in self.last.effects if isinstance(effect, CommandReply))

    def refuses(self, outcome: str, message: str = "") -> Self:
        assert (self.reply.outcome, self.session_effects, self.last.events) == (outcome, [], [])
        assert message in self.reply.message
        return self


def tagged(scene: OwnedScene, session: str, tag: str) -> HookReceived:
    received = scene.hook_received("SessionStart", "", session, "", {"source": "clear"})
    return replace(received, event=replace(received.event, context=Context(cwd=FOLDER, tag=tag)))
