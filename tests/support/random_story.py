"""Random stories of agents and people, for properties of the whole core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from quarterdeck.agents.claude.hooks import HOOKS, read_hook
from quarterdeck.core.deck.keys import key_views, page_revision
from quarterdeck.core.engine.deck_layout import KeyAction
from quarterdeck.core.engine.deck_messages import (
    DispatchEnded,
    PressButton,
    PressKey,
    SeenTerminal,
    TerminalsSeen,
    TurnDial,
    TurnPage,
)
from quarterdeck.core.engine.messages import (
    AddRule,
    AddRules,
    CreateToken,
    DaemonRestarted,
    Deadline,
    Decide,
    DecisionRefused,
    ExtensionChanged,
    HookReceived,
    Input,
    InputRefused,
    NotifyFailed,
    ProcessGone,
    ProcessSeen,
    Remember,
    RemoveRule,
    RevokeToken,
    RiskAssessed,
    SendAnswer,
    StillWaiting,
    TimePassed,
    TranscriptMessage,
    TranscriptPart,
    TranscriptRead,
    TrustProject,
    Unattended,
    WaiterGone,
)
from quarterdeck.core.model.decisions import Allow, Block, Decision, Deny, NoOpinion
from quarterdeck.core.model.event_data.admin_data import McpChangeData
from quarterdeck.core.model.event_data.session_data import MessageUsage
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.risk_levels import LEVELS, Risk
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import ProcessId, Settings, State
from quarterdeck.core.model.unattended_policy import UnattendedPolicy
from quarterdeck.core.reduce import Result, reduce
from tests.support.deck_scene import LAYOUT

SESSIONS = ("s1", "s2")
TOOLS = ("Bash", "AskUserQuestion", "ExitPlanMode", "TodoWrite", "TaskUpdate")

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
texts = st.sampled_from(["", "go", "<task-notification>x", "completed"])
todos = st.lists(
    st.fixed_dictionaries({"content": st.sampled_from("ab"), "status": st.sampled_from(["pending", "completed"])}),
    max_size=2,
)
tool_inputs = st.fixed_dictionaries({"command": st.sampled_from(["ls", "rm"])}) | st.fixed_dictionaries(
    {"todos": todos}
)
payloads: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"hook_event_name": st.sampled_from(sorted(HOOKS)), "session_id": st.sampled_from(SESSIONS)},
    optional={
        "tool_name": st.sampled_from(TOOLS),
        "tool_input": tool_inputs,
        "tool_use_id": st.sampled_from(["t1", "t2"]),
        "agent_id": st.sampled_from(["a1"]),
        "prompt": texts,
        "source": st.sampled_from(["startup", "resume", "compact", "clear"]),
        "reason": st.sampled_from(["clear", "other"]),
        "notification_type": st.sampled_from(["idle_prompt", "permission_prompt"]),
        "background_tasks": st.just([{"status": "running"}]),
        "tool_calls": st.just([{"tool_name": "Bash", "tool_use_id": "t1"}]),
        "permission_mode": st.sampled_from(["default", "bypassPermissions"]),
        "task_id": st.sampled_from(["1", "2"]),
    },
)
wild_payloads: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["tool_name", "tool_input", "prompt", "session_id", "tool_calls"]), anything
)
decisions: st.SearchStrategy[Decision] = st.sampled_from(
    [Allow(), Allow(updated_input={"command": "x"}), Deny("no"), Deny("stop", interrupt=True), NoOpinion(), Block("b")]
)

actions = st.dictionaries(st.sampled_from(LEVELS), st.sampled_from(["hold", "deny", "pass"]))
policies = st.just(UnattendedPolicy()) | st.builds(
    UnattendedPolicy,
    after_seconds=st.sampled_from([5.0, 300.0]),
    by_risk=actions,
    quiet_by_risk=actions,
    quiet_hours=st.sampled_from([(), ((1320, 420),), ((0, 60), (720, 780))]),
    channels=st.sampled_from([(), ("desktop",), ("webhook", "push")]),
    min_risk=st.sampled_from(LEVELS),
    quiet_notify=st.sampled_from(["none", "critical", "all"]),
    include_input=st.booleans(),
)
processes = st.sampled_from([ProcessId(7, "100"), ProcessId(7, "200")])


class Story:
    """Plays random inputs and keeps every result."""

    def __init__(self, hold: str, hold_stop: bool, unattended: UnattendedPolicy) -> None:
        settings = Settings(hold=hold, hold_stop=hold_stop, unattended=unattended)
        self.first = State(runner_id="r", settings=settings)
        self.state = self.first
        self.events: list[FeedEvent] = []
        self.received: list[str] = []
        self.answers: dict[str, list[Decision]] = {}
        self.results: list[tuple[Input, State, Result]] = []

    def play(self, message: Input) -> None:
        before, result = self.state, reduce(self.state, message)
        self.state = result.state
        self.events += result.events
        self.results.append((message, before, result))
        if isinstance(message, HookReceived):
            self.received.append(message.event.id)
        for effect in result.effects:
            if isinstance(effect, SendAnswer):
                self.answers.setdefault(effect.event_id, []).append(effect.decision)


def draw_deck_input(draw: st.DrawFn, story: Story, n: int, at: float) -> Input:
    """A movement on a key deck or of an editor; the keys may be seen as they are now."""
    common: dict[str, Any] = {"by": "ann via deck", "at": at, "layout": LAYOUT, "message_id": f"m{n}"}
    slot = draw(st.integers(-1, 9))
    keys = key_views(story.state, LAYOUT, at)
    revision = draw(st.sampled_from([None, "x", page_revision(keys)]))
    seen = st.builds(
        SeenTerminal, pid=st.sampled_from([None, 7, 8]), tag=st.sampled_from(["", "a"]), active=st.booleans()
    )
    moves: tuple[Input, ...] = (
        PressKey(slot=slot, revision=revision, held=draw(st.booleans()), rule_id=f"k{n}", **common),
        PressButton(button=draw(st.sampled_from(KeyAction)), **common),
        TurnDial(control=draw(st.sampled_from(["dial", "roller"])), delta=draw(st.integers(-2, 2)), **common),
        TurnPage(step=draw(st.sampled_from([-1, 1])), **common),
        TerminalsSeen(client_id="code", terminals=tuple(draw(st.lists(seen, max_size=3))), by="ann", at=at),
        DispatchEnded(message_id=f"m{draw(st.integers(0, n))}", error=draw(st.sampled_from([None, "no"])), at=at),
    )
    return draw(st.sampled_from(moves))


@st.composite
def stories(draw: st.DrawFn) -> Story:
    story = Story(draw(st.sampled_from(["auto", "always", "never"])), draw(st.booleans()), draw(policies))
    for n in range(draw(st.integers(0, 25))):
        story.play(draw_input(draw, story, n))
    return story


def draw_input(draw: st.DrawFn, story: Story, n: int) -> Input:
    at = draw(st.floats(-1e9, 1e9))
    request_id = draw(st.sampled_from([*story.state.requests, "none"]))
    kind = draw(
        st.sampled_from(
            ["hook"] * 6
            + ["wild", "decide", "decide", "deadline", "gone", "process", "restart", "alone", "refused"]
            + ["token", "revoke", "ended", "time", "descendant", "waits", "waits", "unreached", "risk"]
            + ["rule", "rule", "unrule", "trust", "extend"]
            + ["read", "read"]
            + ["deck"] * 3
        )
    )
    if kind == "read":
        return draw_read(draw, story, at)
    if kind == "deck":
        return draw_deck_input(draw, story, n, at)
    if kind in ("hook", "wild", "refused"):
        payload = draw(payloads)
        if kind == "wild":
            payload = {**payload, **draw(wild_payloads)}
        event = read_hook(payload, event_id=f"e{n}", at=at, entrypoint=draw(st.sampled_from(["", "cli"])))
        if kind == "refused":
            return InputRefused(event=event, error="twice")
        return HookReceived(event=event, attended=draw(st.booleans()))
    if kind == "decide":
        known = story.state.requests.get(request_id)
        digest = (
            known.digest
            if known and draw(st.booleans())
            else draw(st.sampled_from([known.digest if known else "", "x"]))
        )
        remember = draw(st.none() | remembered(f"m{n}"))
        decision = draw(decisions)
        return Decide(request_id=request_id, decision=decision, digest=digest, by="ann", at=at, remember=remember)
    if kind == "rule":
        made = tuple(draw(rules(f"r{n}{part}")) for part in ("", *"bc"[: draw(st.integers(0, 2))]))
        return AddRule(rule=made[0], by="ann", at=at) if len(made) == 1 else AddRules(rules=made, by="ann", at=at)
    others: dict[str, Input] = {
        "deadline": Deadline(request_id=request_id, at=at),
        "gone": WaiterGone(request_id=request_id, at=at),
        "process": ProcessSeen(
            session_id="s1",
            status=draw(st.sampled_from(["", "idle", "busy", "shell", "waiting", "stale"])),
            waiting_for=draw(st.sampled_from([None, "permission prompt", "dialog open"])),
            process=draw(processes),
            changed_at=draw(st.sampled_from([at - 2, at, at + 2, -1e10])),
            answered=draw(st.sampled_from([(), ("e0", "e1", "e2")])),
            at=at,
        ),
        "ended": ProcessGone(session_id=draw(st.sampled_from(SESSIONS)), process=draw(processes), at=at),
        "time": TimePassed(at=at),
        "descendant": DecisionRefused(attempt="allow", by="owner", reason="it descends", request_id=request_id, at=at),
        "restart": DaemonRestarted(at=at, settings=draw(st.dictionaries(st.sampled_from("ab"), st.sampled_from("12")))),
        "token": CreateToken(token_id=f"t{n % 3}", name="n", scopes=("observe",), verifier=f"v{n}", by="ann", at=at),
        "revoke": RevokeToken(token_id=f"t{n % 3}", by="ann", at=at),
        "alone": Unattended(at=at),
        "waits": StillWaiting(
            request_id=request_id, waited=draw(st.floats(0, 1e6)), minute=draw(st.integers(0, 1439)), at=at
        ),
        "risk": RiskAssessed(
            request_id=request_id,
            digest=known.digest if (known := story.state.requests.get(request_id)) and draw(st.booleans()) else "x",
            risk=Risk(draw(st.sampled_from(LEVELS)), ["touches production"]),
            at=at,
        ),
        "unreached": NotifyFailed(channel="push", request_ids=(request_id,), error="gone", at=at),
        "unrule": RemoveRule(rule_id=draw(st.sampled_from([*story.state.rules, "none"])), by="ann", at=at),
        "extend": ExtensionChanged(
            change=McpChangeData(action="add", name="s", scope="user", by="ann", outcome="failed"), at=at
        ),
        "trust": TrustProject(path="/w", trust=draw(st.sampled_from(["none", "rules", "full"])), by="ann", at=at),
    }
    return others[kind]


def rules(rule_id: str) -> st.SearchStrategy[Rule]:
    return st.builds(
        Rule,
        rule_id=st.just(rule_id),
        effect=st.sampled_from(["allow", "deny", "ask", "alow"]),
        pattern=st.sampled_from(["Bash", "Bash(ls:*)", "Bash(rm:*)", "TodoWrite", "Bash(", "AskUserQuestion"]),
        scope=st.sampled_from(["once", "session", "user"]),
        scope_id=st.sampled_from([None, "s1"]),
        created_at=st.just(0.0),
        created_by=st.just("ann"),
        expires_at=st.none() | st.floats(-1e9, 1e9),
    )


def remembered(rule_id: str) -> st.SearchStrategy[Remember]:
    return st.builds(
        Remember,
        rule_id=st.just(rule_id),
        scope=st.sampled_from(["once", "session", "project", "user"]),
        pattern=st.sampled_from([None, "Bash(ls:*)", "Bash"]),
    )


messages = st.builds(
    TranscriptMessage,
    usage=st.builds(
        MessageUsage,
        message_id=st.sampled_from(["m1", "m2", "m3"]),
        model=st.sampled_from(["", "claude-opus-4-5"]),
        input_tokens=st.integers(0, 10**12),
        cost_usd=st.none() | st.floats(0, 1e6),
        tools=st.integers(0, 3),
        said=st.integers(0, 1),
    ),
    text=st.sampled_from(["", "well\nthen"]),
    at=st.floats(0, 1e9),
    agent_id=st.sampled_from([None, "a1"]),
)


def draw_read(draw: Callable[..., Any], story: Story, at: float) -> TranscriptRead:
    """A part of a transcript that mostly starts at the cursor."""
    session_id, agent_id = draw(st.sampled_from(SESSIONS)), draw(st.sampled_from([None, "a1"]))
    known = story.state.sessions.get(session_id) or story.state.ended.get(session_id)
    cursor = known.transcript.cursors.get(agent_id or "") if known else None
    start = draw(st.sampled_from([cursor.offset if cursor else 0, 7]))
    return TranscriptRead(
        session_id=session_id,
        at=at,
        agent_id=agent_id,
        start=start,
        offset=draw(st.integers(0, 2**40)),
        file_id=draw(st.integers(0, 2)),
        is_restart=draw(st.booleans()),
        part=TranscriptPart(
            messages=tuple(draw(st.lists(messages, max_size=3))),
            prompts=draw(st.integers(0, 2)),
            context_tokens=draw(st.none() | st.integers(0, 10**6)),
            title=draw(st.none() | st.text(max_size=5)),
            titled_by_user=draw(st.booleans()),
            reported_cost_usd=draw(st.none() | st.floats(0, 100)),
            error=draw(st.none() | st.just("overloaded")),
            malformed=draw(st.integers(0, 2)),
            missing=tuple(draw(st.lists(st.sampled_from(["a", "b"]), max_size=2))),
        ),
        summary=draw(st.sampled_from(["", "", "end", "compact"])),
    )
