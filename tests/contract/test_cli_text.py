"""The texts of the commands for a new user, against a real daemon."""

from __future__ import annotations

import json
from pathlib import Path

from tests.contract.test_cli import qd
from tests.support.daemon import Daemon

BASH = {"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "make deploy"}}
WAITS = "1 session waits at its own terminal: passed shop (in /home/ann/shop)"


def test_a_session_that_waits_at_its_own_dialog_is_shown_everywhere(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        assert "nothing is waiting for you" in qd(daemon.home, "status").stdout
        held = daemon.hold({"session_id": "passed", "cwd": "/home/ann/shop", **BASH})
        assert qd(daemon.home, "pass", str(daemon.until_pending(1)[0]["request_id"])).returncode == 0
        assert held.answer() == (204, b"")
        assert qd(daemon.home, "requests").stdout == WAITS + "\n"
        shown = qd(daemon.home, "status").stdout
        assert WAITS in shown
        assert "nothing is waiting" not in shown
        for command in ("requests", "status"):
            assert json.loads(qd(daemon.home, command, "--json").stdout)["at_own_terminal"] == ["passed"]
        assert json.loads(qd(daemon.home, "requests", "--status", "decided", "--json").stdout)["next"] is None


def test_a_request_that_a_restart_gave_back_still_waits_at_its_terminal(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        daemon.hold({"session_id": "passed", "cwd": "/home/ann/shop", **BASH})
        daemon.until_pending(1)
        daemon.stop()
        daemon.restart()
        assert qd(daemon.home, "requests").stdout == WAITS + "\n"
        assert WAITS in qd(daemon.home, "status").stdout


def test_the_audit_shows_the_subject_and_the_actor_of_decisions(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        held = daemon.hold({"session_id": "asks", **BASH})
        assert qd(daemon.home, "deny", str(daemon.until_pending(1)[0]["request_id"])).returncode == 0
        held.answer()
        assert qd(daemon.home, "rules", "add", "allow", "Bash(ls)").returncode == 0
        assert qd(daemon.home, "projects", "trust", str(tmp_path), "--yes").returncode == 0
        lines = qd(daemon.home, "audit", "-n", "3").stdout.splitlines()[1:]
        decided, made, trusted = [line.rstrip() for line in lines]
        assert ("denied" in decided, "owner via cli" in decided, decided.endswith("make deploy")) == (True, True, True)
        assert ("rule made" in made, made.endswith("allow Bash(ls)")) == (True, True)
        assert ("trusted" in trusted, trusted.endswith(str(tmp_path))) == (True, True)
        narrowed = qd(daemon.home, "audit", "--kind", "rule.add", "--who", "owner", "--since", "7d", "--json")
        assert [row["about"] for row in json.loads(narrowed.stdout)["audit"]] == ["allow Bash(ls)"]
        assert qd(daemon.home, "rules", "add", "allow", f"Bash({'x' * 300})").returncode == 0
        lines = qd(daemon.home, "audit", "-n", "2").stdout.splitlines()[1:]
        assert [" owner via cli " in line for line in lines] == [True, True]
        assert ["rule made" in lines[1], len(lines[1]) <= 200, lines[1].rstrip().endswith("x…")] == [True] * 3
        assert qd(daemon.home, "audit", "--who", "nobody").stdout == "No matching entries.\n"
        wrong = qd(daemon.home, "audit", "--kind", "rule.ad")
        assert (wrong.returncode, "did you mean rule.add?" in wrong.stderr) == (1, True)


WRONG = [
    ("/tokens", {"name": "x", "scopes": ["odd"]}, "scopes[0]: must be ingest, observe, approve, edit, prompt"),
    ("/tokens", {"name": "x"}, "scopes: is required"),
    ("/tokens", {"name": "x", "scopes": ["observe"], "extra": 1}, "extra: is not a known field"),
    ("/rules", {"effect": "permit", "pattern": "x"}, "effect: must be allow, deny or ask, is 'permit'"),
    ("/rules", [], "data: must be an object, is a list"),
    ("/sessions", {"cwd": "rel"}, "cwd: must be an absolute path"),
    ("/sessions", {"cwd": "/", "cols": 1.5}, "cols: must be a whole number"),
    ("/sessions/x/messages", {"prompt": ""}, "prompt: must not be empty"),
    ("/requests/x/decision", {"decision": "allow"}, "digest: is required"),
    ("/requests/decisions", {"decisions": "x"}, "decisions: must be a list, is text"),
]


def test_no_error_of_the_api_has_a_validators_own_words(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        for path, body, words in WRONG:
            status, answer = daemon.api("POST", path, body)
            assert (status, answer["error"]["message"][: len(words)]) == (422, words)
        assert daemon.api("GET", "/feed?limit=0")[1]["error"]["message"] == "limit: must be at least 1"
        status = daemon.api("GET", "/requests?status=odd")[1]["error"]["message"]
        assert status == "status: must be pending, decided, withdrawn or expired, is 'odd'"


def test_a_session_whose_turn_is_over_is_ready_for_the_next_prompt(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        daemon.hook({"session_id": "rests", "hook_event_name": "UserPromptSubmit", "prompt": "hello"})
        daemon.hook({"session_id": "rests", "hook_event_name": "Stop", "stop_hook_active": False})
        assert qd(daemon.home, "sessions").stdout.splitlines()[1].startswith("■ ready")


def test_groups_have_a_list_command_and_the_daemon_s_own_events_are_marked(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        for group in ("projects", "worktrees", "rules", "tokens", "mcp", "plugins"):
            plain, listed = qd(daemon.home, group, "--json"), qd(daemon.home, group, "list", "--json")
            assert (listed.returncode, set(json.loads(listed.stdout))) == (0, set(json.loads(plain.stdout)))
            assert qd(daemon.home, group, "list").stdout == qd(daemon.home, group).stdout
        assert qd(daemon.home, "projects", "trust", str(tmp_path), "--yes").returncode == 0
        [line_of_trust] = [line for line in qd(daemon.home, "feed").stdout.splitlines() if "Trust in" in line]
        assert line_of_trust.split()[1] == "qd"


def test_a_takeover_carries_a_prompt(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        daemon.hook({"session_id": "x" * 36, "hook_event_name": "SessionStart", "source": "startup", "cwd": "/"})
        refused = qd(daemon.home, "takeover", "x" * 36, "go on with it")
        assert (refused.returncode, "is not trusted" in refused.stderr) == (1, True)
