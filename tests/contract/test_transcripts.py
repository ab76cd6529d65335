"""The daemon and transcripts on disk: followed, never trusted."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents import running_elsewhere
from tests.support.daemon import Daemon, Json, until

SESSION = "6b2f3c1e-0000-4000-8000-000000000001"


def said(message_id: str, text: str, model: str = "claude-opus-4-5", **more: Any) -> str:
    """A line of a transcript: ten tokens in, two out."""
    usage = {"input_tokens": 10, "output_tokens": 2}
    message = {"id": message_id, "model": model, "content": [{"type": "text", "text": text}], "usage": usage}
    moment = f"2026-11-16T03:00:{int(message_id[1:]) % 60:02}.000Z"
    return json.dumps({"type": "assistant", "timestamp": moment, "cwd": "/w/app", "message": message, **more}) + "\n"


def asked(prompt: str, cwd: str = "/w/app") -> str:
    moment = "2026-11-16T02:59:00.000Z"
    return json.dumps({"type": "user", "timestamp": moment, "cwd": cwd, "message": {"content": prompt}}) + "\n"


class Desk:
    """A daemon and the Claude home it looks at."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self.project = daemon.home.with_name("claude") / "projects" / "-w-app"
        self.project.mkdir(parents=True)
        self.file = self.project / f"{SESSION}.jsonl"

    def hook(self, name: str, path: Path | str | None = None, session_id: str = SESSION, **more: Any) -> None:
        payload = {"hook_event_name": name, "session_id": session_id, "cwd": "/w/app", **more}
        status, _ = self.daemon.hook({**payload, "transcript_path": str(self.file if path is None else path)})
        assert status in (200, 204)

    def texts(self) -> list[str]:
        return [event["data"]["text"] for event in self.daemon.events("message.assistant")]

    def until_texts(self, *wanted: str) -> None:
        until(lambda: self.texts() == list(wanted), what=f"{wanted}: {self.texts()}")

    def summary(self, session_id: str = SESSION) -> Json:
        """The summary of a session, once it is there."""

        def found() -> Json | None:
            events = self.daemon.events("session.summary")
            return next((dict(e["data"]) for e in events if e["session_id"] == session_id), None)

        return until(found, what="a summary") or {}

    def session(self, session_id: str = SESSION) -> Json:
        status, session = self.daemon.api("GET", f"/sessions/{session_id}")
        assert status == 200, session
        return dict(session)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Daemon(tmp_path / "qd") as daemon:
        yield Desk(daemon)
        assert "Traceback" not in daemon.stderr()


def test_a_transcript_is_followed_and_summed_up(desk: Desk) -> None:
    desk.file.write_text(asked("hello") + said("m1", "one"))
    desk.hook("UserPromptSubmit", prompt="hello")
    desk.hook("PostToolUse", tool_name="Bash", tool_input={})
    desk.until_texts("one")
    with desk.file.open("a") as file:
        file.write(said("m2", "two"))
    desk.hook("Stop")
    desk.until_texts("one", "two")
    usage = desk.session()["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["context_tokens"]) == (20, 4, 10)
    assert usage["cost_usd"] == pytest.approx((20 * 5 + 4 * 25) / 1e6)
    desk.hook("SessionEnd", reason="other")
    summary = desk.summary()
    assert (summary["last_assistant_text"], summary["message_count"]) == ("two", 3)
    assert "missing" not in summary
    assert desk.session()["agent_state"] == "ended"
    assert desk.session()["resume"] == {"command": f"claude --resume {SESSION}", "cwd": "/w/app"}


def test_a_session_at_work_is_looked_at_without_a_hook(desk: Desk) -> None:
    desk.file.write_text(asked("hello"))
    desk.hook("UserPromptSubmit", prompt="hello")
    desk.file.write_text(asked("hello") + said("m1", "by itself"))
    desk.until_texts("by itself")


def test_last_words_that_come_late_are_read_though_the_agent_rests(desk: Desk) -> None:
    desk.file.write_text(asked("hello") + said("m1", "first"))
    desk.hook("UserPromptSubmit", prompt="hello")
    desk.hook("Stop")
    desk.until_texts("first")
    with desk.file.open("a") as file:
        file.write(said("m2", "late"))
    desk.until_texts("first", "late")


def test_a_half_written_line_is_read_when_it_is_whole(desk: Desk) -> None:
    line = said("m2", "whole")
    desk.file.write_text(said("m1", "first") + line[:40])
    desk.hook("Stop")
    desk.until_texts("first")
    with desk.file.open("a") as file:
        file.write(line[40:])
    desk.hook("Stop")
    desk.until_texts("first", "whole")
    with desk.file.open("a") as file:
        file.write(line[:40])
    desk.hook("SessionEnd", reason="other")
    assert desk.summary()["missing"] == ["the last line, cut off after 40 bytes"]


def test_a_restart_loses_nothing_and_repeats_nothing(desk: Desk) -> None:
    desk.file.write_text(said("m1", "before"))
    desk.hook("Stop")
    desk.until_texts("before")
    desk.daemon.kill9()
    with desk.file.open("a") as file:
        file.write(said("m2", "meanwhile"))
    desk.daemon.restart()
    desk.until_texts("before", "meanwhile")
    desk.hook("SessionEnd", reason="other")
    desk.daemon.kill9()
    desk.daemon.restart()
    assert desk.summary()["message_count"] == 2
    assert len(desk.daemon.events("session.summary")) == 1


def test_a_truncated_or_replaced_file_is_read_again_and_nothing_is_said_twice(desk: Desk) -> None:
    desk.file.write_text(said("m1", "one") + said("m2", "two"))
    desk.hook("Stop")
    desk.until_texts("one", "two")
    desk.file.write_text(said("m2", "two"))
    desk.hook("Stop")
    until(lambda: desk.session()["usage"]["input_tokens"] == 10, what="the count of the shorter file")
    other = desk.file.with_suffix(".new")
    other.write_text(said("m2", "two") + said("m3", "three") + said("m4", "four"))
    other.replace(desk.file)
    desk.hook("Stop")
    desk.until_texts("one", "two", "three", "four")
    assert desk.session()["usage"]["input_tokens"] == 30


def test_sub_agents_have_transcripts_of_their_own(desk: Desk) -> None:
    desk.file.write_text(said("m1", "boss"))
    folder = desk.file.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a1.jsonl").write_text(said("m2", "helper", isSidechain=True, agentId="a1"))
    (folder / "agent-a b.jsonl").write_text(said("m3", "no id"))
    (folder / "agent-a2.jsonl").symlink_to(folder / "agent-a1.jsonl")
    desk.hook("SubagentStop", agent_id="a1", agent_type="general-purpose")
    desk.until_texts("boss", "helper")
    assert [e["actor_id"] for e in desk.daemon.events("message.assistant")] == ["agent:root", "subagent:a1"]
    assert desk.session()["usage"]["input_tokens"] == 20


@pytest.mark.law("I8")
def test_a_path_that_leads_elsewhere_is_not_read(desk: Desk, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text(said("m1", "secret"))
    (desk.project / "link.jsonl").symlink_to(secret)
    (desk.project / "folder.jsonl").mkdir()
    (desk.project / "notes.txt").write_text(said("m1", "secret"))
    (desk.project.parent / "-elsewhere").symlink_to(tmp_path)
    os.mkfifo(desk.project / "pipe.jsonl")
    paths = {
        "passwd": "/etc/passwd",
        "zero": "/dev/zero",
        "environ": "/proc/self/environ",
        "absolute": str(secret),
        "up": f"{desk.project}/../../../secret.jsonl",
        "link": f"{desk.project}/link.jsonl",
        "linked": f"{desk.project.parent}/-elsewhere/secret.jsonl",
        "prefix": f"{desk.project.parent}-evil/x.jsonl",
        "folder": f"{desk.project}/folder.jsonl",
        "pipe": f"{desk.project}/pipe.jsonl",
        "text": f"{desk.project}/notes.txt",
        "nul": f"{desk.project}/a\0b.jsonl",
        "long": f"{desk.project}/{'x' * 5000}.jsonl",
        "relative": "x.jsonl",
        "tilde": "~/x.jsonl",
        "none": "",
    }
    for session_id, path in paths.items():
        desk.hook("UserPromptSubmit", path, session_id, prompt="x")
        desk.hook("SessionEnd", path, session_id, reason="other")
    for session_id in paths:
        summary = desk.summary(session_id)
        assert summary["error"].startswith("the transcript"), session_id
        assert summary["missing"] == [summary["error"]]
        assert summary.get("usage", {}).get("input_tokens", 0) == 0
    assert desk.texts() == []
    assert desk.daemon.api("GET", "/healthz")[1] == {"status": "ok"}


def test_a_transcript_that_is_not_there_is_missed_only_at_the_end(desk: Desk) -> None:
    desk.hook("UserPromptSubmit", prompt="hello")
    desk.hook("Stop", last_assistant_message="bye")
    desk.hook("SessionEnd", reason="other")
    summary = desk.summary()
    assert (summary["error"], summary["last_assistant_text"]) == ("there is no transcript file", "bye")
    assert len(desk.daemon.events("session.usage")) == 1


@pytest.mark.law("I4")
@pytest.mark.law("I8")
def test_a_huge_transcript_is_read_from_its_end_while_others_are_answered(desk: Desk) -> None:
    filler = json.dumps({"type": "attachment", "x": "y" * 100_000}) + "\n"
    with desk.file.open("w") as file:
        file.write(said("m1", "lost"))
        file.writelines(filler for _ in range(1_000))
        file.writelines(said(f"m{n}", f"text {n}") for n in range(2, 252))
    desk.hook("Stop")
    slowest = 0.0
    while len(desk.daemon.events("message.assistant")) < 250:
        began = time.monotonic()
        desk.daemon.api("GET", "/healthz")
        slowest = max(slowest, time.monotonic() - began)
    assert desk.texts() == [f"text {n}" for n in range(2, 252)]
    assert slowest < 1.0
    desk.hook("SessionEnd", reason="other")
    (missing,) = desk.summary()["missing"]
    assert "bytes of a transcript too large to read whole" in missing


def test_what_cannot_be_read_is_counted_and_the_rest_is_given(desk: Desk) -> None:
    desk.file.write_bytes(b'{"broken\n\xff\xfe\n' + said("m1", "still here", model="claude-zebra-9").encode())
    desk.hook("SessionEnd", reason="other")
    summary = desk.summary()
    assert summary["last_assistant_text"] == "still here"
    assert summary["missing"] == ["2 lines that could not be read", "the price of claude-zebra-9"]
    assert desk.session()["usage"]["cost_usd"] is None


def test_prior_sessions_are_listed_as_ended_and_can_be_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "claude" / "projects" / "-w-my-app"
    folder.mkdir(parents=True)
    (folder / "prior-1.jsonl").write_text(asked("mend the roof", cwd="/w/my.app") + said("m1", "mended"))
    (folder / "running.jsonl").write_text(asked("still at it"))
    (folder / "empty.jsonl").write_text('{"type":"queue-operation"}\n')
    (folder / "broken.jsonl").write_bytes(b"\xff" * 50_000)
    (folder / "link.jsonl").symlink_to(folder / "prior-1.jsonl")
    os.mkfifo(folder / "pipe.jsonl")
    sessions = tmp_path / "claude" / "sessions"
    with running_elsewhere(sessions, "running", "busy"), Daemon(tmp_path / "qd") as daemon:
        daemon.hook({"hook_event_name": "UserPromptSubmit", "session_id": "live", "prompt": "x"})
        until(lambda: len(daemon.api("GET", "/sessions")[1]["sessions"]) == 3, what="the prior sessions")
        *live, prior = daemon.api("GET", "/sessions")[1]["sessions"]
        assert {s["session_id"]: s["agent_state"] for s in live} == {"live": "running", "running": "unknown"}
        assert daemon.api("GET", "/sessions/prior-1")[1] == prior
        assert daemon.events("session%") == []
    assert (prior["session_id"], prior["title"], prior["cwd"]) == ("prior-1", "mend the roof", "/w/my.app")
    assert (prior["agent_state"], prior["state_source"], prior["mode"]) == ("ended", "transcript", "observed")
    assert prior["model"] == "claude-opus-4-5"
    assert prior["resume"] == {"command": "claude --resume prior-1", "cwd": "/w/my.app"}
    assert prior["ended_at"] > prior["started_at"]
