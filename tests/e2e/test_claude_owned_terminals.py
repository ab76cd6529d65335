"""Owned terminal sessions: typed to, viewed, found again after the daemon died, and switched."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.claude import Json, require
from tests.support.connected_claude import processes_in
from tests.support.daemon import PATIENCE_SECONDS, until
from tests.support.model_server import Turn, text
from tests.support.owned_claude import Owner
from tests.support.ws_client import Socket, following

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    with Owner(tmp_path_factory.mktemp("owner"), require("2.1.325")) as owner:
        yield owner


def shows(owner: Owner, session: Json, words: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until these words are on its screen."""

    def seen() -> bool:
        status, screen = owner.daemon.api("GET", f"/sessions/{session['session_id']}/screen")
        return status == 200 and words in screen["text"]

    until(seen, seconds, every=0.1, what=f"{words!r} on the screen")


@pytest.mark.parametrize("mode", ["pty", "tmux"])
@pytest.mark.law("S8")
def test_a_terminal_takes_input_sends_requests_and_ends_without_a_trace(owner: Owner, mode: str) -> None:
    prompt = owner.script(f"hello {mode}", Turn(text("hi there")))
    session = owner.starts(mode, permission_mode="default", prompt=prompt)
    assert (session["mode"], session["owned"]["status"]) == (mode, "up")
    shows(owner, session, "hi there")
    owner.session(session["session_id"], "settled")
    owner.sends(session, owner.script_bash(f"touch by-{mode}"))
    request = owner.request_to_run(f"touch by-{mode}")
    status, refused = owner.command(session, "messages", prompt="into the dialog")
    assert (status, refused["error"]["kind"]) == (409, "dialog_open"), refused
    owner.decide(request, "allow")
    owner.session(session["session_id"], "settled")
    assert owner.path(f"by-{mode}").exists()
    assert owner.kinds(session["session_id"]).count("user.prompt") == 2
    owner.command(session, "end")
    owner.ended(session)
    until(lambda: not agents(owner, session), what="no process of it")


@pytest.mark.law("D7")
def test_a_deny_that_interrupts_is_confirmed_by_an_agent_at_its_prompt(owner: Owner) -> None:
    session = owner.starts("pty", permission_mode="default", prompt=owner.script_bash("touch interrupted"))
    request = owner.request_to_run("touch interrupted")
    owner.decide(request, "deny", interrupt=True)
    owner.session(session["session_id"], "idle")
    assert owner.confirmed(request)["decision"]["delivery"] == "confirmed"
    owner.command(session, "end")
    owner.ended(session)


@pytest.mark.parametrize("mode", ["pty", "tmux"])
@pytest.mark.law("S8")
def test_a_prompt_for_a_terminal_with_a_draft_is_a_conflict_in_words(owner: Owner, mode: str) -> None:
    session = owner.starts(mode, permission_mode="default", prompt=owner.script(f"hi {mode}", Turn(text("hello"))))
    owner.session(session["session_id"], "settled")
    asyncio.run(typed(owner, session, b"half a zebra", b"zebra"))
    status, refused = owner.command(session, "messages", prompt="into the line")
    assert (status, refused["error"]["kind"]) == (409, "not_taken"), refused
    assert "there is unsent text" in refused["error"]["message"]
    assert owner.event(session, "session.failed")["data"]["error"] == refused["error"]["message"]
    owner.command(session, "end")
    owner.ended(session)


def agents(owner: Owner, session: Json) -> list[str]:
    return [c for c in processes_in(owner.claude.path.parent).values() if session["session_id"] in c]


def only_agents(owner: Owner, session: Json) -> int:
    return len([c for c in agents(owner, session) if "supervisor.py" not in c])


@pytest.mark.law("S1")
@pytest.mark.parametrize("mode", ["pty", "tmux"])
def test_a_terminal_survives_a_killed_daemon_and_is_found_again(tmp_path: Path, mode: str) -> None:
    with Owner(tmp_path, require("2.1.325")) as owner:
        session = owner.starts(mode, permission_mode="default", prompt=owner.script("hello", Turn(text("hi there"))))
        shows(owner, session, "hi there")
        before = owner.session(session["session_id"], "settled")
        owner.daemon.kill9()
        assert agents(owner, session)
        owner.daemon.restart()
        shows(owner, session, "hi there")
        after = owner.sessions()[session["session_id"]]
        assert (after["pid"], after["owned"]["status"]) == (before["pid"], "up")
        owner.sends(session, owner.script("and again", Turn(text("still here"))))
        shows(owner, session, "still here")
        assert len(owner.sessions()) == 1
        owner.command(session, "end")
        owner.ended(session)
        until(lambda: not agents(owner, session), what="no process of it")
        owner.daemon.stop()


@pytest.mark.law("D11")
@pytest.mark.law("S1")
@pytest.mark.parametrize("ends", ["killed", "stopped"])
@pytest.mark.parametrize("mode", ["pty", "tmux"])
def test_a_request_of_a_terminal_survives_its_daemon(tmp_path: Path, mode: str, ends: str) -> None:
    with Owner(tmp_path, require("2.1.325")) as owner:
        session = owner.starts(mode, permission_mode="default", prompt=owner.script_bash("touch after-all"))
        request = owner.request_to_run("touch after-all")
        if ends == "killed":
            owner.daemon.kill9()
        else:
            owner.daemon.terminate()
            owner.daemon.ended()
        owner.daemon.restart()
        until(lambda: owner.request(request)["holder"] == "connected", every=0.02, what="its agent")
        now = owner.request(request)
        assert (now["status"], now["digest"]) == ("pending", request["digest"])
        assert not owner.path("after-all").exists()
        owner.decide(request, "allow")
        assert owner.confirmed(request)["decision"]["delivery"] == "confirmed"
        owner.session(session["session_id"], "settled")
        assert owner.path("after-all").exists()
        owner.command(session, "end")
        owner.ended(session)
        owner.daemon.stop()


@pytest.mark.law("S6")
def test_a_terminal_is_seen_and_typed_into_over_the_socket(owner: Owner) -> None:
    session = owner.starts("pty", shell=True)
    assert b"42-answers" in asyncio.run(typed(owner, session, b"echo $((40+2))-answers\n", b"42-answers"))
    owner.command(session, "end")
    owner.ended(session)


async def typed(owner: Owner, session: Json, data: bytes, wanted: bytes) -> bytes:
    """Type a text into a terminal and return what it shows until these words."""
    topic = f"streams:{session['session_id']}"
    async with following(owner.daemon, topics=[topic]) as socket:
        await stream(socket, "reset")
        words = base64.b64encode(data).decode()
        assert (await socket.command("terminal_input", session_id=session["session_id"], data=words))["ok"]
        output = b""
        while wanted not in output:
            output += base64.b64decode(await stream(socket, "terminal"))
        return output


async def stream(socket: Socket, kind: str) -> str:
    while (message := await socket.until("stream"))["kind"] != kind:
        pass
    return str(message["data"])


@pytest.mark.law("S4")
def test_a_session_continues_in_another_mode_with_one_process_at_a_time(owner: Owner) -> None:
    session = owner.starts("sdk", permission_mode="default", prompt=owner.script("the word is fig", Turn(text("ok"))))
    owner.event(session, "turn.result")
    owner.session(session["session_id"], "settled")
    status, answer = owner.command(session, "mode", mode="tmux")
    assert status == 202, answer
    shows(owner, session, "the word is fig")
    assert owner.sessions()[session["session_id"]]["mode"] == "tmux"
    until(lambda: only_agents(owner, session) == 1, every=0.1, what="one process")  # its helpers start as copies of it
    owner.sends(session, owner.script("which word?", Turn(text("a fruit it was"))))
    shows(owner, session, "a fruit it was")
    assert "the word is fig" in str(owner.model.requests_for("which word?")[-1].body)
    owner.command(session, "end")
    owner.ended(session)


@pytest.mark.law("S1")
def test_a_terminal_is_found_again_once_tmux_answers(tmp_path: Path) -> None:
    with Owner(tmp_path, require("2.1.325")) as owner:
        session = owner.starts("tmux", shell=True)
        server = tmux_server(owner)
        owner.daemon.kill9()
        os.kill(server, signal.SIGSTOP)
        try:
            owner.daemon.restart()
            status, answer = owner.command(session, "end")
            assert (status, answer["error"]["kind"]) == (502, "failed")
            assert owner.sessions()[session["session_id"]]["owned"]["status"] == "up"
        finally:
            os.kill(server, signal.SIGCONT)
        until(lambda: owner.command(session, "end")[0] == 202, every=0.2, what="its end")
        owner.ended(session)


def tmux_server(owner: Owner) -> int:
    """The tmux of the daemon's sessions; it has no environment to be known by."""
    mark = os.fsencode(owner.daemon.home / "run" / "sessions" / "tmux")
    places = (place for place in Path("/proc").glob("[0-9]*") if place.name != str(os.getpid()))
    return next(int(place.name) for place in places if mark in words_of(place))


def words_of(place: Path) -> list[bytes]:
    """The command line of a process; none once it has ended."""
    try:
        return (place / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
