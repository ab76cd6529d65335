"""`qd --url … --token-file …`: the daemon of another machine from here, with the scopes of its token."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.test_cli import qd
from tests.support.access import make_token
from tests.support.daemon import Daemon, permission


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """The daemon of the other machine."""
    with Daemon(tmp_path_factory.mktemp("other") / "home") as running:
        yield running


def from_here(
    other: Daemon, folder: Path, *words: str, scopes: tuple[str, ...] = ("observe", "approve"), stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command on this machine, which has no daemon, with a token of the other one."""
    file = folder / "colleague"
    file.write_text(make_token(other, *scopes)["token"])
    named = f"--url=http://127.0.0.1:{other.port}", "--token-file", str(file)
    return qd(folder / "home", *named, *words, stdin=stdin)


def test_a_colleague_with_a_scoped_token_decides(other: Daemon, tmp_path: Path) -> None:
    held = other.hold(permission("make release", "s1"))
    other.until_pending(1)
    listed = from_here(other, tmp_path, "requests")
    assert "make release" in listed.stdout, listed.stderr
    allowed = from_here(other, tmp_path, "allow", "--note", "ok", "--yes")
    assert (allowed.returncode, "Allowed: make release" in allowed.stdout) == (0, True), allowed.stderr
    assert json.loads(held.answer()[1])["hookSpecificOutput"]["decision"]["behavior"] == "allow"
    assert not (tmp_path / "home" / "run").exists()


def test_a_token_that_may_only_observe_is_refused_by_the_other_machine(other: Daemon, tmp_path: Path) -> None:
    held = other.hold(permission("make clean", "s1"))
    [request] = other.until_pending(1)
    refused = from_here(other, tmp_path, "deny", request["request_id"], scopes=("observe",))
    assert (refused.returncode, refused.stderr.strip()) == (1, "quarterdeck: this token lacks the scope approve")
    held.close()


def test_the_desk_of_the_other_machine_opens_in_plain_lines(other: Daemon, tmp_path: Path) -> None:
    desk = from_here(other, tmp_path, "up", "--plain", stdin="sessions\nquit\n")
    assert desk.returncode == 0, desk.stderr
    assert "s1" in desk.stdout
    status = from_here(other, tmp_path, "status", "--json")
    view = json.loads(status.stdout)
    assert (view["pid"], view["url"]) == (other.pid, f"http://127.0.0.1:{other.port}")


@pytest.mark.parametrize("command", ["stop", "install", "doctor", "export", "daemon"])
def test_what_is_about_this_machine_is_refused(other: Daemon, tmp_path: Path, command: str) -> None:
    refused = from_here(other, tmp_path, command)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"quarterdeck: --url: qd {command} is about this machine")


def test_a_machine_that_does_not_answer_is_named(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("qdt_x")
    named = "--url", "http://127.0.0.1:9", "--token-file", str(tmp_path / "token")
    silent = qd(tmp_path / "home", *named, "sessions")
    assert silent.returncode == 3
    assert "http://127.0.0.1:9 is not responding" in silent.stderr
    assert "another machine" in silent.stderr
    alone = qd(tmp_path / "home", *named[:2], "sessions")
    assert (alone.returncode, "--url and --token-file" in alone.stderr) == (2, True)
