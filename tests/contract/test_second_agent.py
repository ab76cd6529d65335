"""A second agent, with other names for everything, is treated like Claude Code: its tools by their kinds."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.agents.claude.agent import CLAUDE
from quarterdeck.core.engine.messages import AddRule, HookReceived, ResolvedPaths, SendAnswer
from quarterdeck.core.model.decisions import Allow, Deny
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.runtime_event import RuntimeEvent
from quarterdeck.core.model.state import Request, State
from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.core.reduce import reduce
from quarterdeck.core.risk.quick_risk import quick_risk
from quarterdeck.core.rules.pattern_suggestions import suggested_patterns
from quarterdeck.core.rules.simulation import simulate
from quarterdeck.core.rules.verdicts import tool_use_of_request
from quarterdeck.core.text.titles import title_of
from quarterdeck.surfaces.terminal.lines.request_input import body
from quarterdeck.surfaces.terminal.request_card import WANTS
from quarterdeck.surfaces.text.labels import about
from quarterdeck.surfaces.tui.feed.render.registry import tool_view_of
from quarterdeck.wire import read_event, read_request, write_json
from tests.support.other_agent import FERRET

CWD = "/w/app"
CALLS = [
    ("Bash", "run_line", {"command": "git push --force"}, {"line": "git push --force"}, "Bash(git push:*)"),
    (
        "Edit",
        "patch",
        {"file_path": "/w/app/a.py", "old_string": "1", "new_string": "2"},
        {"target": "/w/app/a.py", "before": "1", "after": "2"},
        "Edit(./**)",
    ),
    ("Read", "open", {"file_path": "/w/app/.env"}, {"target": "/w/app/.env"}, "Read(.env)"),
    ("WebFetch", "download", {"url": "http://x.org/a"}, {"from": "http://x.org/a"}, "WebFetch(domain:x.org)"),
]
same_call = pytest.mark.parametrize(("word", "own", "given", "translated", "pattern"), CALLS, ids=[c[1] for c in CALLS])


def of_claude(hook: str, tool: str, tool_input: dict[str, Any], number: int) -> RuntimeEvent:
    payload = {"session_id": "s", "cwd": CWD, "hook_event_name": hook, "tool_name": tool, "tool_input": tool_input}
    return CLAUDE.read_event({**payload, "tool_use_id": "t"}, event_id=f"e{number}", at=float(number))


def of_ferret(hook: str, tool: str, tool_input: dict[str, Any], number: int) -> RuntimeEvent:
    payload = {"talk": "s", "in": CWD, "what": hook, "with": tool, "input": tool_input, "use": "t"}
    return FERRET.read_event(payload, event_id=f"e{number}", at=float(number))


def rule_of(effect: str, pattern: str) -> Rule:
    return Rule(rule_id="r", effect=effect, pattern=pattern, scope="user", created_at=0.0, created_by="ann")


def story(*events: RuntimeEvent, rule: Rule | None = None) -> tuple[State, list[FeedEvent], list[Any]]:
    """The state, the feed and the decisions after these events."""
    state, feed, decisions = State(runner_id="r"), list[FeedEvent](), list[Any]()
    if rule is not None:
        state = reduce(state, AddRule(rule=rule, by="ann", at=0.0)).state
    for event in events:
        paths = ResolvedPaths(cwd=CWD, path=event.payload["tool_input"].get("file_path"))
        result = reduce(state, HookReceived(event=event, attended=True, paths=paths))
        state, feed = result.state, feed + result.events
        decisions += [effect.decision for effect in result.effects if isinstance(effect, SendAnswer)]
    return state, feed, decisions


def requested(event: RuntimeEvent) -> Request:
    return story(event)[0].requests[event.id]


def view_of(request: Request) -> dict[str, Any]:
    return {"form": None, "truncated": None, "kind": "permission", **vars_of(request)}


def vars_of(request: Request) -> dict[str, Any]:
    return {name: getattr(request, name) for name in ("tool_name", "tool_kind", "tool_input")}


@same_call
@pytest.mark.parametrize("effect", ["allow", "deny"])
def test_a_rule_covers_the_same_kind_of_tool(
    word: str, own: str, given: dict[str, Any], translated: dict[str, Any], pattern: str, effect: str
) -> None:
    rule = rule_of(effect, pattern)
    _, _, first = story(of_claude("PermissionRequest", word, given, 1), rule=rule)
    _, _, second = story(of_ferret("may_i", own, translated, 1), rule=rule)
    assert second == first
    assert isinstance(second[0], Allow if effect == "allow" else Deny)


@same_call
def test_a_request_has_the_same_risk_card_and_suggestions(
    word: str, own: str, given: dict[str, Any], translated: dict[str, Any], pattern: str
) -> None:
    first = requested(of_claude("PermissionRequest", word, given, 1))
    second = requested(of_ferret("may_i", own, translated, 1))
    assert (second.agent, second.tool_name, second.hook_name) == ("ferret", own, "may_i")
    assert (second.tool_kind, second.tool_input) == (first.tool_kind, first.tool_input)
    assert quick_risk(second, CWD, "/home/me") == quick_risk(first, CWD, "/home/me")
    assert second.tool_kind in WANTS
    assert list(body(view_of(second))) == list(body(view_of(first)))
    assert about(view_of(second)).replace(own, word) == about(view_of(first))
    settings = State(runner_id="r").settings
    use = tool_use_of_request(settings, second)
    assert suggested_patterns(use) == suggested_patterns(tool_use_of_request(settings, first))
    assert [one.request for one in simulate(rule_of("allow", pattern), [second], settings)] == [second]


@same_call
def test_the_feed_has_the_same_titles_and_views(
    word: str, own: str, given: dict[str, Any], translated: dict[str, Any], pattern: str
) -> None:
    _, first, _ = story(of_claude("PreToolUse", word, given, 1), of_claude("PostToolUse", word, given, 2))
    _, second, _ = story(of_ferret("will_use", own, translated, 1), of_ferret("used", own, translated, 2))
    assert [event.kind for event in second] == [event.kind for event in first]
    for made, like in zip(second[1:], first[1:], strict=True):
        assert title_of(made) == title_of(like).replace(word, own)
        assert tool_view_of({"tool_kind": made.data.tool_kind}) is tool_view_of({"tool_kind": like.data.tool_kind})
        assert read_event(write_json(made)) == made


def test_a_session_and_its_requests_know_their_agent_from_the_feed() -> None:
    state, feed, _ = story(of_ferret("begin", "", {}, 1), of_ferret("may_i", "run_line", {"line": "ls"}, 2))
    assert state.sessions["s"].agent == "ferret"
    assert read_request(write_json(state.requests["e2"])) == state.requests["e2"]
    assert [event.context.agent for event in feed if event.context] == ["ferret"]
    assert story(of_claude("SessionStart", "", {}, 1))[0].sessions["s"].agent == "claude"


def test_an_answer_is_in_the_agents_own_words() -> None:
    request = requested(of_ferret("may_i", "patch", {"target": "/w/a", "before": "1", "after": "2"}, 1))
    edited = Allow(updated_input={**request.tool_input, "new_string": "3"})
    answer = FERRET.write_answer(request.hook_name, request.tool_name, request.tool_input, edited)
    assert answer == {"go": True, "input": {"target": "/w/a", "before": "1", "after": "3"}}


def test_what_has_no_kind_has_the_risk_that_its_agent_states() -> None:
    nap = requested(of_ferret("may_i", "nap", {}, 1))
    assert (quick_risk(nap, CWD, "/home/me").level, quick_risk(nap, CWD, "/home/me").reasons) == ("medium", ["sleeps"])


def test_a_rule_may_name_a_tool_by_its_own_name() -> None:
    event = of_ferret("may_i", "run_line", {"line": "ls"}, 1)
    assert isinstance(story(event, rule=rule_of("deny", "run_line"))[2][0], Deny)
    assert story(event, rule=rule_of("deny", "patch"))[2] == []


def test_a_tool_that_only_has_the_name_of_a_word_is_covered_by_no_rule() -> None:
    event = of_ferret("may_i", "Bash", {"command": "ls"}, 1)
    assert event.tool_kind == ToolKind.OTHER
    assert story(event, rule=rule_of("allow", "Bash"))[2] == []
    assert story(event, rule=rule_of("allow", "Bash(ls)"))[2] == []
