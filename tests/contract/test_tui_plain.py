"""The face that speaks in lines on a real daemon, over a pipe: it decides, edits, answers, remembers, and ends."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO

import pytest

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces import plain
from quarterdeck.surfaces.client.connection import Talk
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from tests.support.daemon import Daemon, HeldHook, decision_in, permission, prompt

pytestmark = pytest.mark.timeout(60)
SECONDS = 20.0


class Person:
    """Types lines, and hears what is said."""

    def __init__(self, pipe: TextIO) -> None:
        self._pipe = pipe
        self._heard = 0
        self._said_at = 0.0
        self.said: list[str] = []

    def hear(self, words: str) -> None:
        self._said_at = time.monotonic()
        self.said += words.split("\n")

    async def hears(self, words: str) -> str:
        """The next line with these words."""
        async with asyncio.timeout(SECONDS):
            while not any(words in line for line in self.said[self._heard :]):
                await asyncio.sleep(0.02)
        place = next(n for n, line in enumerate(self.said) if n >= self._heard and words in line)
        self._heard = place + 1
        return self.said[place]

    async def reads(self, words: str) -> str:
        """The same, and takes the moment that reading needs before it is decided."""
        found = await self.hears(words)
        while time.monotonic() - self._said_at <= SETTLE_SECONDS:
            await asyncio.sleep(0.05)
        return found

    def types(self, *lines: str) -> None:
        self._pipe.write("".join(f"{line}\n" for line in lines))
        self._pipe.flush()


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        yield running


@asynccontextmanager
async def person_at(daemon: Daemon) -> AsyncGenerator[Person]:
    """Somebody at the face, who leaves by the end of the lines."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as typed:
        with os.fdopen(writing, "w") as pipe:
            person = Person(pipe)
            serving = asyncio.create_task(plain.serve(Talk(daemon.home), typed, person.hear))
            yield person
        await asyncio.wait_for(serving, 10)
    assert not [line for line in person.said if UNSEEN.search(line)]


async def answer_of(held: HeldHook) -> bytes:
    return (await asyncio.to_thread(held.answer))[1]


def asking(tool: str, **tool_input: Any) -> dict[str, Any]:
    return permission("", "asks") | {"tool_name": tool, "tool_input": tool_input}


@pytest.mark.law("D10")
async def test_requests_are_announced_shown_and_decided_by_their_numbers(daemon: Daemon) -> None:
    async with person_at(daemon) as person:
        one = daemon.hold(permission("make lines", "plain1"))
        await person.hears("Request 1: w wants to run")
        await person.reads("It takes:")
        person.types("allow 1")
        assert decision_in(await answer_of(one)) == "allow"
        await person.hears("Request 1: Allowed by owner from tui")
        two = daemon.hold(permission("echo \u202e", "plain2"))
        await person.reads("show 2")
        person.types("allow 2")
        await person.hears("Request 2 is not decided: not all of it was read out")
        person.types("show 2")
        await person.hears("echo ⟨202e⟩")
        person.types("deny 2 no thanks")
        assert b"no thanks" in await answer_of(two)
        three = daemon.hold(permission("make more", "plain3"))
        await person.hears("Request 3")
        person.types("list")
        await person.hears("3: w")
        three.close()
        await person.hears("Request 3 is over: Answered or cancelled at the terminal")
        person.types("allow 3", "fly")
        await person.hears("Request 3 is not decided: Answered or cancelled at the terminal")
        await person.hears("No such order: fly")


@pytest.mark.law("D16")
async def test_an_edited_input_runs_and_is_told_as_edited(daemon: Daemon) -> None:
    async with person_at(daemon) as person:
        held = daemon.hold(permission("make mistakes"))
        await person.reads("It takes:")
        person.types("edit 1 make amends")
        await person.hears("Allow exactly this?")
        person.types("yes")
        assert b"make amends" in await answer_of(held)
        await person.hears("Request 1: Allowed, edited, by owner from tui")


@pytest.mark.law("R5")
async def test_a_rule_is_said_edited_and_only_then_saved(daemon: Daemon) -> None:
    async with person_at(daemon) as person:
        held = daemon.hold(permission("git push origin main"))
        await person.reads("It takes:")
        person.types("remember 1")
        await person.hears("1: Bash(git push origin main)")
        await person.hears("Always allow Bash(git push origin main) in this session.")
        assert daemon.api("GET", "/rules")[1]["rules"] == []
        person.types("Bash(git push origin:*)")
        await person.hears("Always allow Bash(git push origin:*) in this session.")
        await person.hears("yes decides and saves it")
        person.types("yes")
        assert decision_in(await answer_of(held)) == "allow"
        await person.hears("Remembered: allow Bash(git push origin:*) (session)")
        person.types("rules", "rules remove 1", "yes")
        await person.hears("1: allow Bash(git push origin:*), session s1")
        await person.hears("Taken back: Bash(git push origin:*)")
    (pattern,) = [rule["data"]["pattern"] for rule in daemon.events("rule.add")]
    assert pattern == "Bash(git push origin:*)"
    assert daemon.api("GET", "/rules")[1]["rules"] == []


async def test_questions_and_forms_are_answered_by_number_and_in_own_words(daemon: Daemon) -> None:
    options = [{"label": "Redis", "description": "fast"}, {"label": "Memory", "description": ""}]
    asked = [{"question": text, "header": "", "options": options, "multiSelect": False} for text in ("Where?", "Why?")]
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    wants = {"hook_event_name": "Elicitation", "session_id": "form", "cwd": "/w", "mcp_server_name": "srv"}
    async with person_at(daemon) as person:
        held = daemon.hold(asking("AskUserQuestion", questions=asked))
        await person.reads("It takes: answer")
        person.types("answer 1", "2", "because", "yes")
        told = json.loads(await answer_of(held))["hookSpecificOutput"]["decision"]["updatedInput"]
        assert told["answers"] == {"Where?": "Memory", "Why?": "because"}
        held = daemon.hold(wants | {"message": "How many?", "mode": "form", "requested_schema": schema})
        await person.reads("It takes: answer")
        person.types("answer 2", "7", "yes")
        assert json.loads(await answer_of(held))["hookSpecificOutput"]["content"] == {"count": 7}


async def test_a_plan_is_approved_in_a_mode_and_several_are_denied_by_name(daemon: Daemon) -> None:
    async with person_at(daemon) as person:
        held = daemon.hold(asking("ExitPlanMode", plan="1. Drain"))
        await person.reads("It takes: allow, approve")
        person.types("approve 1 1")
        assert b"acceptEdits" in await answer_of(held)
        several = [daemon.hold(permission(f"make {n}", f"many{n}")) for n in range(3)]
        await person.hears("Request 2")
        await person.hears("Request 3")
        await person.hears("Request 4")
        await person.reads("It takes:")
        person.types("deny 2,4 not now")
        await person.hears("2 of 2 denied")
        left = daemon.until_pending(1)
        assert [one["status"] for one in left] == ["pending"]
        assert len(several) == 3


@pytest.mark.law("D3")
async def test_who_decides_elsewhere_is_named(daemon: Daemon) -> None:
    async with person_at(daemon) as person:
        held = daemon.hold(permission("make haste"))
        await person.hears("It takes:")
        (view,) = daemon.until_pending(1)
        daemon.decide(view, "deny")
        await person.hears("Request 1 is over: Denied by owner")
        person.types("allow 1")
        await person.hears("Request 1 is not decided: Denied by owner")
        assert decision_in(await answer_of(held)) == "deny"


async def test_what_there_is_to_read_is_read_out(daemon: Daemon) -> None:
    daemon.hook(prompt("fix the login", "reads"))
    async with person_at(daemon) as person:
        person.types("sessions", "feed 5", "feed on", "audit", "tasks", "health", "rules", "help start")
        await person.hears("w (reads): running for")
        await person.hears("w: fix the login")
        await person.hears("What happens is said from now on")
        await person.hears("set by system: decide.hold")
        await person.hears("No agent has made a list yet.")
        await person.hears("events since")
        await person.hears("There are no rules yet")
        await person.hears("start [PROJECT or FOLDER]")
        daemon.hook(prompt("and the logout", "reads"))
        await person.hears("w: and the logout")


async def test_where_no_daemon_runs_the_lines_say_so(tmp_path: Path) -> None:
    said: list[str] = []
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        pipe.write("list\nhealth\naudit\n")
    with os.fdopen(reading) as typed:
        await asyncio.wait_for(plain.serve(Talk(tmp_path), typed, said.append), 10)
    assert said[0].startswith("The daemon is away")
    assert said[1] == "Not connected to the daemon yet."
    assert any("no Quarterdeck runs" in line for line in said)
