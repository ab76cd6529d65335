"""Session commands over a real daemon's API: permissions and refusals."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, Json, prompt

MISSING = "/nowhere/claude"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("sessions")
    (folder / "project").mkdir()
    with Daemon(folder / "qd", env={"HOME": str(folder), "QUARTERDECK_CLAUDE_PATH": MISSING}) as daemon:
        yield daemon


@pytest.fixture
def project(daemon: Daemon) -> str:
    """A trusted folder."""
    path = str(daemon.home.parent / "project")
    assert daemon.api("POST", "/projects/trust", {"path": path})[0] == 200
    return path


def error(answer: tuple[int, Json]) -> tuple[int, str]:
    status, body = answer
    return status, body["error"]["kind"]


@pytest.mark.law("S9")
def test_a_session_starts_only_in_a_trusted_project(daemon: Daemon, tmp_path: Path) -> None:
    status, answer = daemon.api("POST", "/sessions", {"cwd": str(tmp_path), "prompt": "hello"})
    assert (status, answer["error"]["kind"]) == (403, "untrusted_project")
    assert f"qd projects trust {tmp_path}" in answer["error"]["message"]


@pytest.mark.law("S9")
def test_a_link_into_a_trusted_project_is_no_way_out_of_it(daemon: Daemon, project: str, tmp_path: Path) -> None:
    link = Path(project) / "link"
    link.unlink(missing_ok=True)
    link.symlink_to(tmp_path)
    assert error(daemon.api("POST", "/sessions", {"cwd": str(link)})) == (403, "untrusted_project")


@pytest.mark.parametrize(
    ("body", "status", "kind", "field"),
    [
        ({}, 422, "invalid", "cwd"),
        ({"cwd": "relative"}, 422, "invalid", "cwd"),
        ({"cwd": "/x", "project_id": "p_1"}, 422, "invalid", "project_id"),
        ({"cwd": "/x", "mode": "ssh"}, 422, "invalid", "mode"),
        ({"cwd": "/x", "permission_mode": "bypassPermissions"}, 422, "invalid", "permission_mode"),
        ({"cwd": "/x", "fork": True}, 422, "invalid", "fork"),
        ({"cwd": "/x", "model": "--dangerously-skip-permissions"}, 422, "invalid", "model"),
        ({"cwd": "/x", "tools": ["Read,--model=x"]}, 422, "invalid", "tools"),
        ({"cwd": "/x", "resume": "../../etc"}, 422, "invalid", "resume"),
        ({"cwd": "/x", "attachments": [{"type": "image"}] * 21}, 422, "invalid", "attachments"),
        ({"cwd": "/x", "surprise": 1}, 422, "invalid", "surprise"),
        ({"cwd": "/there/is/no/such/folder"}, 422, "invalid", "cwd"),
        ({"project_id": "p_1"}, 404, "not_found", None),
        ({"resume": "nobody"}, 404, "not_found", None),
    ],
)
def test_an_invalid_start_names_the_field(
    daemon: Daemon, body: Json, status: int, kind: str, field: str | None
) -> None:
    got, answer = daemon.api("POST", "/sessions", body)
    assert (got, answer["error"]["kind"]) == (status, kind), answer
    assert field is None or field in answer["error"]["message"]


def test_a_start_that_fails_says_why_and_is_on_record(daemon: Daemon, project: str) -> None:
    status, answer = daemon.api("POST", "/sessions", {"cwd": project, "prompt": "hello"})
    assert (status, answer["error"]["kind"]) == (502, "failed")
    assert "claude.path" in answer["error"]["message"]
    failed = daemon.events("session.failed")[-1]
    assert failed["data"]["order"] == "start"
    mine = [e["kind"] for e in daemon.events() if e["session_id"] == failed["session_id"]]
    assert mine == ["session.launch", "session.failed", "session.exit", "session.end"]
    audited = [row["kind"] for row in daemon.api("GET", "/audit?limit=1000")[1]["audit"]]
    assert {"session.launch", "session.failed", "session.exit"} <= set(audited)


@pytest.mark.parametrize("order", ["messages", "interrupt", "end", "mode", "fork", "takeover"])
def test_commands_to_unknown_and_observed_sessions_are_refused(daemon: Daemon, order: str) -> None:
    body = {"messages": {"prompt": "x"}, "mode": {"mode": "sdk"}}.get(order, {})
    assert error(daemon.api("POST", f"/sessions/{uuid.uuid4()}/{order}", body)) == (404, "not_found")
    session = f"terminal-{order}"
    daemon.hook(prompt("hello", session) | {"cwd": str(daemon.home.parent)})
    untrusted = (403, "untrusted_project")
    not_here = {"messages": "not_taken", "interrupt": "not_taken", "end": "not_possible", "mode": "not_owned"}
    expected = {"takeover": untrusted, "fork": untrusted}.get(order) or (409, not_here[order])
    assert error(daemon.api("POST", f"/sessions/{session}/{order}", body)) == expected


@pytest.mark.law("S4")
def test_a_running_session_is_not_taken_over_but_may_be_forked(daemon: Daemon, project: str) -> None:
    daemon.hook(prompt("hello", "runs-still") | {"cwd": project})
    status, answer = daemon.api("POST", "/sessions/runs-still/takeover", {})
    assert (status, answer["error"]["kind"]) == (409, "session_runs")
    assert "fork" in answer["error"]["message"]
    assert error(daemon.api("POST", "/sessions/runs-still/takeover", {"fork": True})) == (502, "failed")


def test_the_command_line_shows_the_refusal_in_one_line(daemon: Daemon, tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "QUARTERDECK_HOME": str(daemon.home)}
    command = [sys.executable, "-m", "quarterdeck", "run", "hello", "--project", str(tmp_path)]
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1
    assert ran.stderr.startswith("quarterdeck: ")
    assert len(ran.stderr.splitlines()) == 1
    assert f"qd projects trust {tmp_path}" in ran.stderr


def test_a_start_without_the_sdk_says_how_to_get_it_and_leaves_no_session(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['claude_agent_sdk'] = None\n")
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    with Daemon(tmp_path / "qd", env={"HOME": str(tmp_path), "PYTHONPATH": paths}) as daemon:
        assert daemon.api("POST", "/projects/trust", {"path": str(tmp_path)})[0] == 200
        status, answer = daemon.api("POST", "/sessions", {"cwd": str(tmp_path), "prompt": "hello"})
        assert (status, answer["error"]["field"]) == (422, "mode")
        assert f"{sys.executable} -m pip install claude-agent-sdk" in answer["error"]["message"]
        assert daemon.api("GET", "/sessions?all=true")[1]["sessions"] == []


def test_make_run_installs_the_same_sdk_as_the_tests() -> None:
    root = Path(__file__).parents[2]
    run, dev = (set((root / name).read_text().splitlines()) for name in ("requirements-run.lock", "requirements.lock"))
    assert any(line.startswith("claude-agent-sdk==") for line in run)
    assert run <= dev
