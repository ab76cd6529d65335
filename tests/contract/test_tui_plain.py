"""Plain mode on a real daemon, over a pipe: it decides, edits, answers, remembers, and ends."""

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
from quarterdeck.surfaces.client.connection import DaemonConnection
from quarterdeck.surfaces.plain import terminal_io
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from tests.support.daemon import Daemon, HeldHook, decision_in, permission, prompt

SECONDS = 60.0


class Person:
    """Types lines and reads the printed ones."""

    def __init__(self, pipe: TextIO) -> None:
        self._pipe = pipe
        self._read_lines = 0
        self._printed_at = 0.0
        self.printed: list[str] = []

    def print(self, words: str) -> None:
        self._printed_at = time.monotonic()
        self.printed += words.split("\n")

    async def sees(self, words: str) -> str:
        """Wait for the next line with these words."""
        async with asyncio.timeout(SECONDS):
            while not any(words in line for line in self.printed[self._read_lines :]):
                await asyncio.sleep(0.02)
        place = next(n for n, line in enumerate(self.printed) if n >= self._read_lines and words in line)
        self._read_lines = place + 1
        return self.printed[place]

    async def reads(self, words: str) -> str:
        """Wait for it, and then for the moment that must pass before a decision."""
        line = await self.sees(words)
        while time.monotonic() - self._printed_at <= SETTLE_SECONDS:
            await asyncio.sleep(0.05)
        return line

    def types(self, *story: str) -> None:
        self._pipe.write("".join(f"{line}\n" for line in story))
        self._pipe.flush()


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        yield running


@asynccontextmanager
async def person_at(daemon: Daemon) -> AsyncGenerator[Person]:
    """A person at plain mode, whose input then ends."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as typed:
        with os.fdopen(writing, "w") as pipe:
            person = Person(pipe)
            serving = asyncio.create_task(terminal_io.run_piped(DaemonConnection(daemon.home), typed, person.print))
            yield person
        await asyncio.wait_for(serving, SECONDS)
    assert not [line for line in person.printed if UNSEEN.search(line)]


async def answer_of(held: HeldHook) -> bytes:
    return (await asyncio.to_thread(held.answer))[1]


def tool_request(tool: str, **tool_input: Any) -> dict[str, Any]:
    return permission("", "asks") | {"tool_name": tool, "tool_input": tool_input}


@pytest.mark.law("D10")
async def test_requests_are_announced_shown_and_decided_by_their_numbers(daemon: Daemon) -> None:
    async with person_at(daemon) as person:
        one = daemon.hold(permission("make lines", "plain1"))
        await person.sees("Request 1: w wants to run")
        await person.reads("It takes:")
        person.types("allow 1")
        assert decision_in(await answer_of(one)) == "allow"
        await person.sees("Request 1: Allowed by owner from tui")
        two = daemon.hold(permission("echo \u202e", "plain2"))
        await person.reads("show 2")
        person.types("allow 2")
        await person.sees("Request 2 is not decided: not all of it was read out")
        person.types("show 2")
        await person.sees("echo ⟨202e⟩")
        person.types("deny 2 no thanks")
        assert b"no thanks" in await answer_of(two)
        three = daemon.hold(permission("make more", "plain3"))
        await person.sees("Request 3")
        person.types("list")
        await person.sees("3: w")
        three.close()
        await person.sees("Request 3 is over: Answered or cancelled at the terminal")
        person.types("allow 3", "fly")
        await person.sees("Request 3 is not decided: Answered or cancelled at the terminal")
        await person.sees("No such command: fly")


@pytest.mark.law("D16")
async def test_an_edited_input_runs_and_is_announced_as_edited(daemon: Daemon) -> None:
    async with person_at(daemon) as person:
        held = daemon.hold(permission("make mistakes"))
        await person.reads("It takes:")
        person.types("edit 1 make amends")
        await person.sees("Allow exactly this?")
        person.types("yes")
        assert b"make amends" in await answer_of(held)
        await person.sees("Request 1: Allowed, edited, by owner from tui")


@pytest.mark.law("R5")
async def test_a_rule_is_described_edited_and_only_then_saved(daemon: Daemon) -> None:
    async with person_at(daemon) as person:
        held = daemon.hold(permission("git push origin main"))
        await person.reads("It takes:")
        person.types("remember 1")
        await person.sees("1: Bash(git push origin main)")
        await person.sees("Always allow Bash(git push origin main) in this session.")
        assert daemon.api("GET", "/rules")[1]["rules"] == []
        person.types("Bash(git push origin:*)")
        await person.sees("Always allow Bash(git push origin:*) in this session.")
        await person.sees("yes decides and saves it")
        person.types("yes")
        assert decision_in(await answer_of(held)) == "allow"
        await person.sees("Remembered: allow Bash(git push origin:*) (session)")
        person.types("rules", "rules remove 1", "yes")
        await person.sees("1: allow Bash(git push origin:*), session s1")
        await person.sees("Removed: Bash(git push origin:*)")
    (pattern,) = [rule["data"]["pattern"] for rule in daemon.events("rule.add")]
    assert pattern == "Bash(git push origin:*)"
    assert daemon.api("GET", "/rules")[1]["rules"] == []


async def test_questions_and_forms_are_answered_by_number_and_in_own_words(daemon: Daemon) -> None:
    options = [{"label": "Redis", "description": "fast"}, {"label": "Memory", "description": ""}]
    questions = [
        {"question": text, "header": "", "options": options, "multiSelect": False} for text in ("Where?", "Why?")
    ]
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    wants = {"hook_event_name": "Elicitation", "session_id": "form", "cwd": "/w", "mcp_server_name": "srv"}
    async with person_at(daemon) as person:
        held = daemon.hold(tool_request("AskUserQuestion", questions=questions))
        await person.reads("It takes: answer")
        person.types("answer 1", "2", "because", "yes")
        reply = json.loads(await answer_of(held))["hookSpecificOutput"]["decision"]["updatedInput"]
        assert reply["answers"] == {"Where?": "Memory", "Why?": "because"}
        held = daemon.hold(wants | {"message": "How many?", "mode": "form", "requested_schema": schema})
        await person.reads("It takes: answer")
        person.types("answer 2", "7", "yes")
        assert json.loads(await answer_of(held))["hookSpecificOutput"]["content"] == {"count": 7}


async def test_a_plan_is_approved_in_a_mode_and_several_requests_are_denied(daemon: Daemon) -> None:
    async with person_at(daemon) as person:
        held = daemon.hold(tool_request("ExitPlanMode", plan="1. Drain"))
        await person.reads("It takes: allow, approve")
        person.types("approve 1 1")
        assert b"acceptEdits" in await answer_of(held)
        several = [daemon.hold(permission(f"make {n}", f"many{n}")) for n in range(3)]
        await person.sees("Request 2")
        await person.sees("Request 3")
        await person.sees("Request 4")
        await person.reads("It takes:")
        person.types("deny 2,4 not now")
        await person.sees("2 of 2 denied")
        left = daemon.until_pending(1)
        assert [one["status"] for one in left] == ["pending"]
        assert len(several) == 3


@pytest.mark.law("D3")
async def test_a_decision_made_elsewhere_names_who_made_it(daemon: Daemon) -> None:
    async with person_at(daemon) as person:
        held = daemon.hold(permission("make haste"))
        await person.sees("It takes:")
        (view,) = daemon.until_pending(1)
        daemon.decide(view, "deny")
        await person.sees("Request 1 is over: Denied by owner")
        person.types("allow 1")
        await person.sees("Request 1 is not decided: Denied by owner")
        assert decision_in(await answer_of(held)) == "deny"


async def test_sessions_feed_audit_tasks_health_and_rules_are_printed(daemon: Daemon) -> None:
    daemon.hook(prompt("fix the login", "reads"))
    async with person_at(daemon) as person:
        person.types("sessions", "feed 5", "feed on", "audit", "tasks", "health", "rules", "help start")
        await person.sees("w (reads): running for")
        await person.sees("w: fix the login")
        await person.sees("The feed is on")
        await person.sees("set by system: decide.hold")
        await person.sees("No agent has made a to-do list yet.")
        await person.sees("events since")
        await person.sees("There are no rules yet")
        await person.sees("start [PROJECT or FOLDER]")
        daemon.hook(prompt("and the logout", "reads"))
        await person.sees("w: and the logout")


async def test_without_a_daemon_plain_mode_says_so(tmp_path: Path) -> None:
    printed: list[str] = []
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        pipe.write("list\nhealth\naudit\n")
    with os.fdopen(reading) as typed:
        await asyncio.wait_for(terminal_io.run_piped(DaemonConnection(tmp_path), typed, printed.append), SECONDS)
    assert printed[0].startswith("The daemon is not responding")
    assert printed[1] == "Not connected to the daemon yet."
    assert any("Quarterdeck is not running" in line for line in printed)
