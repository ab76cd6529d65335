"""What can be ordered of a session, what a model says right now, and how dialogs read what is typed."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.terminal.commands import BY_NAME
from quarterdeck.surfaces.terminal.live_text import KEPT, LINGER_SECONDS, Saying, Spoken, followed
from quarterdeck.surfaces.terminal.session_actions import ORDERS, orders_for, why_not
from quarterdeck.surfaces.terminal.styled_text import fold, plain
from quarterdeck.surfaces.text.labels import project_of
from quarterdeck.surfaces.tui.dialogs.manage.mcp_server import read_pairs, read_words
from quarterdeck.surfaces.tui.dialogs.manage.start_session import fitting, project_row, typed_folder
from quarterdeck.surfaces.tui.dialogs.manage.trust import trust_lines
from quarterdeck.surfaces.tui.panes.request_pane import VERBS
from quarterdeck.surfaces.tui.panes.speech import said_lines
from quarterdeck.surfaces.tui.screens.workspace.mcp import server_lines, server_rows
from quarterdeck.surfaces.tui.screens.workspace.plugins import offer_rows, plugin_lines, plugin_rows
from tests.support.hostile import TEXTS
from tests.support.tui import NOW, event, ours, session

Json = dict[str, Any]
RUNNING = ("write", "interrupt", "end", "fork", "switch")


@pytest.mark.parametrize(
    ("one", "takes"),
    [
        (ours(), RUNNING),
        (ours(status="starting"), RUNNING),
        (ours(mode="tmux"), ("write", "terminal", *RUNNING[1:])),
        (ours(mode="pty", owned={"shell": True}), ("write", "terminal", "interrupt", "end")),
        (ours(status="ending"), ()),
        (ours(status="moved"), ()),
        (ours(status="down"), ("resume", "fork")),
        (ours(status="down", owned={"shell": True}), ()),
        (session(state="idle"), ("fork",)),
        (session(state="unknown"), ("takeover", "fork")),
        (session(state="ended", ended_at=NOW), ("resume", "takeover", "fork")),
        (None, ()),
    ],
)
def test_a_session_takes_the_orders_that_fit_how_it_is(one: Json | None, takes: tuple[str, ...]) -> None:
    assert orders_for(one) == takes
    for verb in ORDERS:
        assert bool(why_not(verb, one)) is (verb not in takes)


def test_why_not_says_what_to_do() -> None:
    assert "choose a session first" in why_not("end", None)
    assert why_not("end", session(state="idle")) == "shop (s1) takes fork"
    assert why_not("takeover", session(state="idle")).endswith("still runs elsewhere: end it there first, or fork it")
    assert "no orders" in why_not("end", ours(status="ending"))


def test_a_session_in_a_worktree_is_called_by_its_project_also_when_the_worktree_is_gone() -> None:
    where = "/home/ann/trees/shop-5bcc959a"
    one = ours("5bcc959a-1f0c", cwd=where, owned={"worktree": "/home/ann/shop"})
    gone = ours("5bcc959a-1f0c", cwd=where)
    fork = ours("77aa0000-1f0c", cwd=where, owned={"worktree": "/home/ann/shop"})
    assert [project_of(each) for each in (one, gone, fork)] == ["shop"] * 3
    assert project_of(session(cwd="/home/ann/shop-5bcc959a")) == "shop-5bcc959a"


def test_every_order_is_a_command_and_its_key_decides_nothing() -> None:
    deciding = {key for key, _ in VERBS.values()}
    for order in ORDERS.values():
        assert order.command in BY_NAME
        assert order.key not in deciding


def piece(kind: str, session_id: str = "s1", **more: Any) -> Json:
    return {"session_id": session_id, "kind": "text", "data": {"event": kind, **more}}


def says(text: str, session_id: str = "s1") -> Json:
    return piece("content_block_delta", session_id, delta="text_delta", text=text)


def test_words_are_gathered_as_they_come_and_go_when_the_feed_has_them() -> None:
    spoken = Spoken()
    for said in (piece("message_start"), piece("content_block_start", block="text"), says("Hel"), says("lo")):
        spoken.hear(said, 1.0)
    spoken.hear(says("from a sub-agent") | {"data": {"event": "x", "parent_tool_use_id": "t1"}}, 1.0)
    spoken.hear({"session_id": "s1", "kind": "hook", "data": {}}, 1.0)
    assert spoken.now == {"s1": Saying("Hello")}
    spoken.recorded([event(3, "tool.pre", "x"), event(4, "message.assistant", "x", "s2")])
    assert spoken.now
    spoken.recorded([event(5, "message.assistant", "x")])
    assert spoken.now == {}


def test_what_is_whole_goes_after_a_while_and_a_new_message_begins_anew() -> None:
    spoken = Spoken()
    spoken.hear(says("one"), 1.0)
    spoken.hear(piece("message_stop"), 2.0)
    spoken.keep(["s1"], 2.0 + LINGER_SECONDS - 0.1)
    assert spoken.now["s1"].text == "one"
    spoken.hear(piece("message_start"), 3.0)
    assert spoken.now == {}
    spoken.hear(piece("content_block_delta", delta="thinking_delta", thinking="…"), 3.0)
    assert spoken.now["s1"].thinks
    spoken.hear(says("x" * (2 * KEPT)), 3.0)
    assert len(spoken.now["s1"].text) == KEPT
    spoken.keep([], 3.0)
    assert spoken.now == {}


def test_words_are_followed_of_who_is_looked_at_or_of_all_that_run_over_the_sdk() -> None:
    sessions = {s["session_id"]: s for s in (ours("a"), ours("b"), ours("c", "tmux"), ours("d", status="down"))}
    sessions["e"] = session("e")
    assert followed(sessions, None) == ("a", "b")
    assert followed(sessions, "b") == ("b",)
    assert followed(sessions, "c") == ()


def project(path: str, **more: Any) -> Json:
    view: Json = {"name": path.rpartition("/")[2], "path": path, "git_branch": "main", "trusted": False}
    view |= {"last_modified": 1.0, "live_sessions": 0, "prior_sessions": []}
    return view | more


def test_projects_are_filtered_by_every_word_with_trusted_ones_first() -> None:
    shop, docs = project("/w/shop", last_modified=9.0), project("/w/docs", trusted=True)
    assert fitting([shop, docs], "") == [docs, shop]
    assert fitting([shop, docs], "SHOP w") == [shop]
    assert fitting([shop, docs], "nothing") == []
    assert "✓ trusted" in plain([project_row(docs, 80)])
    assert "untrusted" in plain([project_row(shop, 80)])
    assert typed_folder(" /w/x ") == "/w/x"
    assert typed_folder("shop") is None


def test_a_server_is_read_from_lines_and_words() -> None:
    assert read_pairs("A=b=c\n\n B = d ", "=") == {"A": "b=c", "B": "d"}
    assert read_pairs("Authorization: Bearer x", ":") == {"Authorization": "Bearer x"}
    assert "this is none: oops" in read_pairs("oops", "=")
    assert read_words("npx -y 'some server'") == ["npx", "-y", "some server"]
    assert "needs a command" in read_words(" ")
    assert "cannot be read" in read_words("npx 'x")


def test_nothing_that_hides_gets_through_any_of_it() -> None:
    for text in TEXTS:
        hook = {"event": text, "matcher": text, "runs": text, "file": text}
        brought = {"name": text, "transport": text, "runs": text, "gets": [text], "file": text}
        other = {"name": text, "says": text, "file": text}
        brings = {"path": text, "hooks": [hook], "servers": [brought], "variables": [other], "allows": [other]}
        lines = list(trust_lines(brings | {"others": [other], "troubles": [text]}))
        lines += said_lines(text, Saying(text))
        plugin = {"plugin_id": text, "name": text, "marketplace": text, "version": text, "enabled": True, "scope": text}
        plugin |= {"project": text, "capabilities": [text], "errors": [text]}
        lines += plugin_lines(plugin)
        config = {"command": text, "args": [text], "env": {text: "•••"}}
        server: Json = {"name": text, "config": config, "project": text, "last_error": text, "login": text}
        lines += server_lines(server)
        assert not UNSEEN.search(plain(fold(lines, 80)).replace("\n", ""))


def test_rows_of_plugins_and_servers_say_how_they_are_in_words() -> None:
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
