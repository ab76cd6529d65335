"""Session commands, streamed text, and how dialogs read typed text."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.surfaces.terminal.forms.project_choice import matching_projects, typed_folder
from quarterdeck.surfaces.terminal.lines.extension_lines import (
    offer_rows,
    plugin_lines,
    plugin_rows,
    server_lines,
    server_rows,
)
from quarterdeck.surfaces.terminal.lines.project_lines import project_row
from quarterdeck.surfaces.terminal.lines.trust_lines import trust_lines
from quarterdeck.surfaces.terminal.live_text import (
    KEPT_CHARACTERS,
    LINGER_SECONDS,
    LiveText,
    StreamedText,
    followed_sessions,
)
from quarterdeck.surfaces.terminal.session_actions import ACTIONS, actions_for, blocked_reason
from quarterdeck.surfaces.terminal.styled_text import fold, plain
from quarterdeck.surfaces.terminal.text_commands import BY_NAME
from quarterdeck.surfaces.text.labels import project_of
from quarterdeck.surfaces.tui.keys.decision_keys import VERBS
from quarterdeck.surfaces.tui.panes.speech import speech_lines
from quarterdeck.views.resources.session_view import SessionView
from quarterdeck.views.workspace.project_view import ProjectView
from tests.support.hostile import TEXTS
from tests.support.recorded_daemon import NOW, event, owned_session_view, session_view

Json = dict[str, Any]
ENDS = [{"name": "end", "possible": True, "reason": None}]
RUNNING = ("write", "interrupt", "end", "fork", "switch")


@pytest.mark.parametrize(
    ("one", "takes"),
    [
        (owned_session_view(), RUNNING),
        (owned_session_view(status="starting"), RUNNING),
        (owned_session_view(mode="tmux"), ("write", "terminal", *RUNNING[1:])),
        (owned_session_view(mode="pty", owned={"shell": True}), ("write", "terminal", "interrupt", "end")),
        (owned_session_view(status="ending"), ()),
        (owned_session_view(status="moved"), ()),
        (owned_session_view(status="down"), ("resume", "fork")),
        (owned_session_view(status="down", owned={"shell": True}), ()),
        (session_view(state="idle"), ("fork",)),
        (session_view(state="unknown"), ("takeover", "fork")),
        (session_view(where="tmux attach", actions=ENDS), ("write", "terminal", "interrupt", "end", "fork")),
        (session_view(state="ended", ended_at=NOW), ("resume", "takeover", "fork")),
        (None, ()),
    ],
)
def test_a_session_takes_the_commands_that_fit_its_state(one: SessionView | None, takes: tuple[str, ...]) -> None:
    assert actions_for(one) == takes
    for verb in ACTIONS:
        assert bool(blocked_reason(verb, one)) is (verb not in takes)


def test_a_blocked_command_says_what_to_do_instead() -> None:
    assert "choose a session first" in blocked_reason("end", None)
    assert blocked_reason("end", session_view(state="idle")) == "shop (s1) takes fork"
    assert blocked_reason("takeover", session_view(state="idle")).endswith(
        "still runs elsewhere: end it there first, or fork it"
    )
    assert "no commands" in blocked_reason("end", owned_session_view(status="ending"))


def test_a_session_in_a_worktree_is_named_by_its_project_even_when_the_worktree_is_gone() -> None:
    where = "/home/ann/trees/shop-5bcc959a"
    one = owned_session_view("5bcc959a-1f0c", cwd=where, owned={"worktree": "/home/ann/shop"})
    gone = owned_session_view("5bcc959a-1f0c", cwd=where)
    fork = owned_session_view("77aa0000-1f0c", cwd=where, owned={"worktree": "/home/ann/shop"})
    assert [project_of(each) for each in (one, gone, fork)] == ["shop"] * 3
    assert project_of(session_view(cwd="/home/ann/shop-5bcc959a")) == "shop-5bcc959a"


def test_every_session_action_is_a_command_and_its_key_decides_nothing() -> None:
    deciding = {key for key, _ in VERBS.values()}
    for order in ACTIONS.values():
        assert order.command in BY_NAME
        assert order.key not in deciding


def stream_message(kind: str, session_id: str = "s1", **more: Any) -> Json:
    return {"session_id": session_id, "kind": "text", "data": {"event": kind, **more}}


def text_delta(text: str, session_id: str = "s1") -> Json:
    return stream_message("content_block_delta", session_id, delta="text_delta", text=text)


def test_streamed_text_is_collected_and_dropped_once_the_feed_has_it() -> None:
    live_text = LiveText()
    for message in (
        stream_message("message_start"),
        stream_message("content_block_start", block="text"),
        text_delta("Hel"),
        text_delta("lo"),
    ):
        live_text.receive(message, 1.0)
    live_text.receive(text_delta("from a sub-agent") | {"data": {"event": "x", "parent_tool_use_id": "t1"}}, 1.0)
    live_text.receive({"session_id": "s1", "kind": "hook", "data": {}}, 1.0)
    assert live_text.current == {"s1": StreamedText("Hello")}
    live_text.drop_recorded([event(3, "tool.pre", "x"), event(4, "message.assistant", "x", "s2")])
    assert live_text.current
    live_text.drop_recorded([event(5, "message.assistant", "x")])
    assert live_text.current == {}


def test_a_complete_text_expires_and_a_new_message_starts_empty() -> None:
    live_text = LiveText()
    live_text.receive(text_delta("one"), 1.0)
    live_text.receive(stream_message("message_stop"), 2.0)
    live_text.prune(["s1"], 2.0 + LINGER_SECONDS - 0.1)
    assert live_text.current["s1"].text == "one"
    live_text.receive(stream_message("message_start"), 3.0)
    assert live_text.current == {}
    live_text.receive(stream_message("content_block_delta", delta="thinking_delta", thinking="…"), 3.0)
    assert live_text.current["s1"].is_thinking
    live_text.receive(text_delta("x" * (2 * KEPT_CHARACTERS)), 3.0)
    assert len(live_text.current["s1"].text) == KEPT_CHARACTERS
    live_text.prune([], 3.0)
    assert live_text.current == {}


def test_text_is_followed_for_the_chosen_session_or_for_all_sdk_sessions() -> None:
    sessions = {
        s.session_id: s
        for s in (
            owned_session_view("a"),
            owned_session_view("b"),
            owned_session_view("c", "tmux"),
            owned_session_view("d", status="down"),
        )
    }
    sessions["e"] = session_view("e")
    assert followed_sessions(sessions, None) == ("a", "b")
    assert followed_sessions(sessions, "b") == ("b",)
    assert followed_sessions(sessions, "c") == ()


def project(path: str, **more: Any) -> ProjectView:
    view: Json = {"name": path.rpartition("/")[2], "path": path, "git_branch": "main", "trusted": False}
    view |= {"last_modified": 1.0, "live_sessions": 0, "prior_sessions": []}
    return read_view(ProjectView, view | more)


def test_projects_are_filtered_by_every_word_with_trusted_ones_first() -> None:
    shop, docs = project("/w/shop", last_modified=9.0), project("/w/docs", trusted=True)
    assert matching_projects([shop, docs], "") == [docs, shop]
    assert matching_projects([shop, docs], "SHOP w") == [shop]
    assert matching_projects([shop, docs], "nothing") == []
    assert "✓ trusted" in plain([project_row(docs, 80)])
    assert "untrusted" in plain([project_row(shop, 80)])
    assert typed_folder(" /w/x ") == "/w/x"
    assert typed_folder("shop") is None


def test_no_hidden_character_gets_through_any_page() -> None:
    for text in TEXTS:
        hook = {"event": text, "matcher": text, "runs": text, "file": text}
        config_server = {"name": text, "transport": text, "runs": text, "gets": [text], "file": text}
        other = {"name": text, "says": text, "file": text}
        project_config = {
            "path": text,
            "hooks": [hook],
            "servers": [config_server],
            "variables": [other],
            "allows": [other],
        }
        lines = list(trust_lines(project_config | {"others": [other], "troubles": [text]}))
        lines += speech_lines(text, StreamedText(text))
        plugin = {"plugin_id": text, "name": text, "marketplace": text, "version": text, "enabled": True, "scope": text}
        plugin |= {"project": text, "capabilities": [text], "errors": [text]}
        lines += plugin_lines(plugin)
        config = {"command": text, "args": [text], "env": {text: "•••"}}
        server: Json = {"name": text, "config": config, "project": text, "last_error": text, "login": text}
        lines += server_lines(server)
        assert not UNSEEN.search(plain(fold(lines, 80)).replace("\n", ""))


def test_rows_of_plugins_and_servers_show_their_state_in_words() -> None:
    plugin = {"plugin_id": "p@m", "name": "p", "marketplace": "m", "version": "1", "enabled": False, "scope": "user"}
    plugin |= {"project": None, "capabilities": ["hooks"], "errors": ["broken"]}
    ((_, cells),) = plugin_rows([plugin])
    assert cells[0] == ("– off", "dim")
    assert cells[-1] == ("! broken", "warn")
    offer = {"plugin_id": "p@m", "name": "p", "marketplace": "m", "version": None, "description": "does things"}
    ((key, cells),) = offer_rows([offer])
    assert (key, cells[-1]) == ("p@m", ("does things", "dim"))
    server: Json = {"name": "files", "transport": "stdio", "scope": "user", "project": None, "checked_at": None}
    server |= {"status": "failed", "config": {"command": "npx", "args": ["-y"]}}
    ((_, cells),) = server_rows([server], NOW)
    assert cells[0] == ("✕ failed", "blocked")
    assert cells[-1] == ("npx -y", "dim")
