"""What the commands tell a person who knows nothing yet, against a real daemon."""

from __future__ import annotations

import json
from pathlib import Path

from tests.contract.test_cli import qd
from tests.support.daemon import Daemon

BASH = {"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "make deploy"}}
WAITS = "1 session waits at its own terminal: passed shop (in /home/ann/shop)"


def test_a_session_that_waits_at_its_own_dialog_is_told_everywhere(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        assert "nobody waits for you" in qd(daemon.home, "status").stdout
        held = daemon.hold({"session_id": "passed", "cwd": "/home/ann/shop", **BASH})
        assert qd(daemon.home, "pass", str(daemon.until_pending(1)[0]["request_id"])).returncode == 0
        assert held.answer() == (204, b"")
        assert qd(daemon.home, "requests").stdout == WAITS + "\n"
        shown = qd(daemon.home, "status").stdout
        assert WAITS in shown
        assert "nobody waits" not in shown
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


def test_the_audit_says_what_was_decided_about_and_by_whom(tmp_path: Path) -> None:
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
        assert qd(daemon.home, "audit", "--who", "nobody").stdout == "Nothing like that is in the audit.\n"
        wrong = qd(daemon.home, "audit", "--kind", "rule.ad")
        assert (wrong.returncode, "did you mean rule.add?" in wrong.stderr) == (1, True)


def test_a_session_whose_turn_is_over_is_ready_for_the_next_prompt(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        daemon.hook({"session_id": "rests", "hook_event_name": "UserPromptSubmit", "prompt": "hello"})
        daemon.hook({"session_id": "rests", "hook_event_name": "Stop", "stop_hook_active": False})
        assert qd(daemon.home, "sessions").stdout.splitlines()[1].startswith("■ ready")


def test_what_has_a_list_takes_the_word_and_our_own_events_are_named_so(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        for group in ("projects", "worktrees"):
            plain, listed = qd(daemon.home, group, "--json"), qd(daemon.home, group, "list", "--json")
            assert (listed.returncode, set(json.loads(listed.stdout))) == (0, set(json.loads(plain.stdout)))
            assert qd(daemon.home, group, "list").stdout == qd(daemon.home, group).stdout
        assert qd(daemon.home, "projects", "trust", str(tmp_path), "--yes").returncode == 0
        [told] = [line for line in qd(daemon.home, "feed").stdout.splitlines() if "Trust in" in line]
        assert told.split()[1] == "qd"


def test_a_takeover_carries_a_prompt(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        daemon.hook({"session_id": "x" * 36, "hook_event_name": "SessionStart", "source": "startup", "cwd": "/"})
        refused = qd(daemon.home, "takeover", "x" * 36, "go on with it")
        assert (refused.returncode, "is not trusted" in refused.stderr) == (1, True)
