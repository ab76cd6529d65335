"""The daemon and transcripts on disk: followed, never trusted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents import running_elsewhere
from tests.support.daemon import Daemon, Json, until
from tests.support.failpoints import faulty

STALL_SECONDS = 0.1
"""Of processor time of the daemon, in which its loop did not run."""
SESSION = "6b2f3c1e-0000-4000-8000-000000000001"


def answer_line(message_id: str, text: str, model: str = "claude-opus-4-5", **more: Any) -> str:
    """A line of a transcript: ten tokens in, two out."""
    usage = {"input_tokens": 10, "output_tokens": 2}
    message = {"id": message_id, "model": model, "content": [{"type": "text", "text": text}], "usage": usage}
    moment = f"2026-11-16T03:00:{int(message_id[1:]) % 60:02}.000Z"
    return json.dumps({"type": "assistant", "timestamp": moment, "cwd": "/w/app", "message": message, **more}) + "\n"


def prompt_line(prompt: str, cwd: str = "/w/app") -> str:
    moment = "2026-11-16T02:59:00.000Z"
    return json.dumps({"type": "user", "timestamp": moment, "cwd": cwd, "message": {"content": prompt}}) + "\n"


class TranscriptScene:
    """A daemon and the Claude home whose transcripts it reads."""

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

    def until_texts(self, *expected: str) -> None:
        until(lambda: self.texts() == list(expected), what=f"{expected}: {self.texts()}")

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
def scene(tmp_path: Path) -> Iterator[TranscriptScene]:
    with Daemon(tmp_path / "qd") as daemon:
        yield TranscriptScene(daemon)
        assert "Traceback" not in daemon.stderr()


def test_a_transcript_is_followed_and_summarised(scene: TranscriptScene) -> None:
    scene.file.write_text(prompt_line("hello") + answer_line("m1", "one"))
    scene.hook("UserPromptSubmit", prompt="hello")
    scene.hook("PostToolUse", tool_name="Bash", tool_input={})
    scene.until_texts("one")
    with scene.file.open("a") as file:
        file.write(answer_line("m2", "two"))
    scene.hook("Stop")
    scene.until_texts("one", "two")
    usage = scene.session()["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["context_tokens"]) == (20, 4, 10)
    assert usage["cost_usd"] == pytest.approx((20 * 5 + 4 * 25) / 1e6)
    scene.hook("SessionEnd", reason="other")
    summary = scene.summary()
    assert (summary["last_assistant_text"], summary["message_count"]) == ("two", 3)
    assert "missing" not in summary
    assert scene.session()["agent_state"] == "ended"
    assert scene.session()["resume"] == {"command": f"claude --resume {SESSION}", "cwd": "/w/app"}


def test_the_transcript_of_a_busy_session_is_read_without_a_hook(scene: TranscriptScene) -> None:
    scene.file.write_text(prompt_line("hello"))
    scene.hook("UserPromptSubmit", prompt="hello")
    scene.file.write_text(prompt_line("hello") + answer_line("m1", "by itself"))
    scene.until_texts("by itself")


def test_a_late_last_message_is_read_from_an_idle_agent(scene: TranscriptScene) -> None:
    scene.file.write_text(prompt_line("hello") + answer_line("m1", "first"))
    scene.hook("UserPromptSubmit", prompt="hello")
    scene.hook("Stop")
    scene.until_texts("first")
    with scene.file.open("a") as file:
        file.write(answer_line("m2", "late"))
    scene.until_texts("first", "late")


def test_an_incomplete_line_is_read_once_it_is_complete(scene: TranscriptScene) -> None:
    line = answer_line("m2", "whole")
    scene.file.write_text(answer_line("m1", "first") + line[:40])
    scene.hook("Stop")
    scene.until_texts("first")
    with scene.file.open("a") as file:
        file.write(line[40:])
    scene.hook("Stop")
    scene.until_texts("first", "whole")
    with scene.file.open("a") as file:
        file.write(line[:40])
    scene.hook("SessionEnd", reason="other")
    assert scene.summary()["missing"] == ["the last line, cut off after 40 bytes"]


def test_a_restart_loses_nothing_and_repeats_nothing(scene: TranscriptScene) -> None:
    scene.file.write_text(answer_line("m1", "before"))
    scene.hook("Stop")
    scene.until_texts("before")
    scene.daemon.kill9()
    with scene.file.open("a") as file:
        file.write(answer_line("m2", "meanwhile"))
    scene.daemon.restart()
    scene.until_texts("before", "meanwhile")
    scene.hook("SessionEnd", reason="other")
    scene.daemon.kill9()
    scene.daemon.restart()
    assert scene.summary()["message_count"] == 2
    assert len(scene.daemon.events("session.summary")) == 1


def test_a_truncated_or_replaced_file_is_read_again_without_repetition(scene: TranscriptScene) -> None:
    scene.file.write_text(answer_line("m1", "one") + answer_line("m2", "two"))
    scene.hook("Stop")
    scene.until_texts("one", "two")
    scene.file.write_text(answer_line("m2", "two"))
    scene.hook("Stop")
    until(lambda: scene.session()["usage"]["input_tokens"] == 10, what="the count of the shorter file")
    other = scene.file.with_suffix(".new")
    other.write_text(answer_line("m2", "two") + answer_line("m3", "three") + answer_line("m4", "four"))
    other.replace(scene.file)
    scene.hook("Stop")
    scene.until_texts("one", "two", "three", "four")
    assert scene.session()["usage"]["input_tokens"] == 30


def test_sub_agents_have_transcripts_of_their_own(scene: TranscriptScene) -> None:
    scene.file.write_text(answer_line("m1", "boss"))
    folder = scene.file.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a1.jsonl").write_text(answer_line("m2", "helper", isSidechain=True, agentId="a1"))
    (folder / "agent-a b.jsonl").write_text(answer_line("m3", "no id"))
    (folder / "agent-a2.jsonl").symlink_to(folder / "agent-a1.jsonl")
    scene.hook("SubagentStop", agent_id="a1", agent_type="general-purpose")
    scene.until_texts("boss", "helper")
    assert [e["actor_id"] for e in scene.daemon.events("message.assistant")] == ["agent:root", "subagent:a1"]
    assert scene.session()["usage"]["input_tokens"] == 20


@pytest.mark.law("I8")
def test_a_path_outside_the_projects_folder_is_not_read(scene: TranscriptScene, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text(answer_line("m1", "secret"))
    (scene.project / "link.jsonl").symlink_to(secret)
    (scene.project / "folder.jsonl").mkdir()
    (scene.project / "notes.txt").write_text(answer_line("m1", "secret"))
    (scene.project.parent / "-elsewhere").symlink_to(tmp_path)
    os.mkfifo(scene.project / "pipe.jsonl")
    paths = {
        "passwd": "/etc/passwd",
        "zero": "/dev/zero",
        "environ": "/proc/self/environ",
        "absolute": str(secret),
        "up": f"{scene.project}/../../../secret.jsonl",
        "link": f"{scene.project}/link.jsonl",
        "linked": f"{scene.project.parent}/-elsewhere/secret.jsonl",
        "prefix": f"{scene.project.parent}-evil/x.jsonl",
        "folder": f"{scene.project}/folder.jsonl",
        "pipe": f"{scene.project}/pipe.jsonl",
        "text": f"{scene.project}/notes.txt",
        "nul": f"{scene.project}/a\0b.jsonl",
        "long": f"{scene.project}/{'x' * 5000}.jsonl",
        "relative": "x.jsonl",
        "tilde": "~/x.jsonl",
        "none": "",
    }
    for session_id, path in paths.items():
        scene.hook("UserPromptSubmit", path, session_id, prompt="x")
        scene.hook("SessionEnd", path, session_id, reason="other")
    for session_id in paths:
        summary = scene.summary(session_id)
        assert summary["error"].startswith("the transcript"), session_id
        assert summary["missing"] == [summary["error"]]
        assert summary.get("usage", {}).get("input_tokens", 0) == 0
    assert scene.texts() == []
    assert scene.daemon.api("GET", "/healthz")[1] == {"status": "ok"}


def test_a_missing_transcript_is_reported_only_at_the_end(scene: TranscriptScene) -> None:
    scene.hook("UserPromptSubmit", prompt="hello")
    scene.hook("Stop", last_assistant_message="bye")
    scene.hook("SessionEnd", reason="other")
    summary = scene.summary()
    assert (summary["error"], summary["last_assistant_text"]) == ("there is no transcript file", "bye")
    assert len(scene.daemon.events("session.usage")) == 1


@pytest.mark.law("I4")
@pytest.mark.law("I8")
def test_a_huge_transcript_is_read_from_its_end_without_delaying_others(tmp_path: Path) -> None:
    stalls = tmp_path / "stalls"
    with Daemon(tmp_path / "qd", launch=faulty("--show-stalls", str(stalls))) as daemon:
        reads_from_its_end(TranscriptScene(daemon), stalls)
        assert "Traceback" not in daemon.stderr()


def reads_from_its_end(scene: TranscriptScene, stalls: Path) -> None:
    filler = json.dumps({"type": "attachment", "x": "y" * 100_000}) + "\n"
    with scene.file.open("w") as file:
        file.write(answer_line("m1", "lost"))
        file.writelines(filler for _ in range(1_000))
        file.writelines(answer_line(f"m{n}", f"text {n}") for n in range(2, 252))
    scene.hook("Stop")
    until(lambda: len(scene.daemon.events("message.assistant")) == 250, what="all that is read")
    assert scene.texts() == [f"text {n}" for n in range(2, 252)]
    assert float(stalls.read_text()) < STALL_SECONDS
    scene.hook("SessionEnd", reason="other")
    (missing,) = scene.summary()["missing"]
    assert "bytes of a transcript too large to read whole" in missing


def test_unreadable_lines_are_counted_and_the_rest_is_read(scene: TranscriptScene) -> None:
    scene.file.write_bytes(b'{"broken\n\xff\xfe\n' + answer_line("m1", "still here", model="claude-zebra-9").encode())
    scene.hook("SessionEnd", reason="other")
    summary = scene.summary()
    assert summary["last_assistant_text"] == "still here"
    assert summary["missing"] == ["2 lines that could not be read", "the price of claude-zebra-9"]
    assert scene.session()["usage"]["cost_usd"] is None


def test_prior_sessions_are_listed_as_ended_and_can_be_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "claude" / "projects" / "-w-my-app"
    folder.mkdir(parents=True)
    (folder / "prior-1.jsonl").write_text(prompt_line("mend the roof", cwd="/w/my.app") + answer_line("m1", "mended"))
    (folder / "running.jsonl").write_text(prompt_line("still at it"))
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
