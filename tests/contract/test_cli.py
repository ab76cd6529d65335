"""The command line against a real daemon: output and exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.errors import NoDaemon
from quarterdeck.surfaces.client.http import Client
from tests.support.daemon import Daemon, until

BASH = {"tool_name": "Bash", "tool_input": {"command": "rm \x1b[2Jx"}}


def qd(home: Path, *words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "QUARTERDECK_HOME": str(home), **env}
    command = [sys.executable, "-m", "quarterdeck", *words]
    return subprocess.run(command, env=environ, input=stdin, capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("cli") / "home") as running:
        yield running


def asks(daemon: Daemon, session: str, **call: Any) -> tuple[Any, str]:
    held = daemon.hold({"session_id": session, "hook_event_name": "PermissionRequest", **(call or BASH)})
    return held, str(daemon.until_pending(1)[0]["request_id"])


def test_a_request_is_shown_and_denied_and_the_agent_reads_the_message(daemon: Daemon) -> None:
    held, request_id = asks(daemon, "s1")
    shown = qd(daemon.home, "requests")
    assert request_id in shown.stdout
    assert "rm ⟨1b⟩[2Jx" in shown.stdout
    assert "\x1b" not in shown.stdout
    denied = qd(daemon.home, "deny", request_id, "--message", "not on main – nie")
    assert (denied.returncode, denied.stdout.startswith("Denied: rm")) == (0, True)
    decision = json.loads(held.answer()[1])["hookSpecificOutput"]["decision"]
    assert decision == {"behavior": "deny", "message": "not on main – nie"}
    again = qd(daemon.home, "allow", request_id)
    assert (again.returncode, again.stdout) == (1, "")
    assert "already denied by owner from the command line" in again.stderr
    assert len(again.stderr.splitlines()) == 1


def test_a_request_is_named_by_its_number_its_beginning_or_not_at_all(daemon: Daemon) -> None:
    first, first_id = asks(daemon, "n1")
    number = first_id.rpartition("-")[2]
    assert first_id in qd(daemon.home, "requests", number).stdout
    second = daemon.hold({"session_id": "n2", "hook_event_name": "PermissionRequest", **BASH})
    ids = [one["request_id"] for one in daemon.until_pending(2)]
    several = qd(daemon.home, "deny")
    assert (several.returncode, several.stderr) == (
        1,
        f"quarterdeck: 2 requests wait; name one of them: {', '.join(ids)}\n",
    )
    assert qd(daemon.home, "deny", number).returncode == 0
    first.answer()
    assert qd(daemon.home, "allow").stdout.startswith("Allowed: rm")
    assert json.loads(second.answer()[1])["hookSpecificOutput"]["decision"]["behavior"] == "allow"


def test_at_a_terminal_an_allow_without_an_id_shows_the_request_and_asks(daemon: Daemon) -> None:
    held, _ = asks(daemon, "n3")
    refused = at_a_terminal(daemon.home, ("allow",), ["n"])
    assert ("rm ⟨1b⟩[2Jx" in refused, "nothing was decided" in refused) == (True, True)
    assert "Allowed: rm" in at_a_terminal(daemon.home, ("allow",), ["y"])
    held.answer()


def test_the_list_of_requests_names_project_and_title_and_shows_a_diff(daemon: Daemon, tmp_path: Path) -> None:
    file = tmp_path / "shop" / "a.py"
    file.parent.mkdir()
    file.write_text("one\ntwo\nthree\n")
    where = {"session_id": "n4", "cwd": str(file.parent)}
    daemon.hook({**where, "hook_event_name": "UserPromptSubmit", "prompt": "fix the login"})
    edit = {"file_path": str(file), "old_string": "two", "new_string": "2"}
    held, request_id = asks(daemon, "n4", tool_name="Edit", tool_input=edit, cwd=str(file.parent))
    shown = qd(daemon.home, "requests").stdout
    assert shown.startswith(f"◆ {request_id}  Edit  ! medium  shop · fix the login · session n4 · ")
    assert "     one\n    -two\n    +2\n     three\n" in shown  # what surrounds the change is from the file
    assert qd(daemon.home, "pass").returncode == 0
    held.answer()


def test_a_very_broad_rule_is_added_only_after_a_yes(daemon: Daemon) -> None:
    refused = qd(daemon.home, "rules", "add", "allow", "Bash")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "allows every clear shell command" in refused.stderr
    assert "use --yes to add such a broad rule" in refused.stderr
    assert "nothing was added" in at_a_terminal(daemon.home, ("rules", "add", "allow", "Bash"), ["n"])
    assert qd(daemon.home, "rules").stdout.startswith("No rules.")
    assert "r_" in at_a_terminal(daemon.home, ("rules", "add", "allow", "Bash"), ["y"])
    edits = json.loads(qd(daemon.home, "rules", "add", "allow", "Edit", "--yes", "--json").stdout)
    assert edits["findings"] == ["allow Edit (user) allows changing any file; write Edit(src/**) for those you mean"]
    narrow = qd(daemon.home, "rules", "add", "allow", "Bash(git log:*)").stdout
    assert "! allow Bash(git log:*)" in narrow
    assert "adds nothing to" in narrow
    assert qd(daemon.home, "rules", "clear", "--yes").returncode == 0


def test_an_edited_input_runs(daemon: Daemon) -> None:
    held, request_id = asks(daemon, "s2")
    done = qd(daemon.home, "allow", request_id, "--input", '{"command":"ls"}', "--note", "safer", "--json")
    assert json.loads(done.stdout)["updated_input"] == {"command": "ls"}
    decision = json.loads(held.answer()[1])["hookSpecificOutput"]["decision"]
    assert decision == {"behavior": "allow", "updatedInput": {"command": "ls"}}


def test_a_question_is_answered(daemon: Daemon) -> None:
    questions = [{"question": "Which one?", "options": [{"label": "A", "description": "first"}]}]
    held, request_id = asks(daemon, "s3", tool_name="AskUserQuestion", tool_input={"questions": questions})
    assert "1. A: first" in qd(daemon.home, "requests").stdout
    wrong = qd(daemon.home, "answer", request_id, "--answers", '{"Which two?":"A"}')
    assert (wrong.returncode, "not one of the questions" in wrong.stderr) == (1, True)
    assert qd(daemon.home, "answer", request_id, "--answers", '{"Which one?":"A"}').returncode == 0
    decision = json.loads(held.answer()[1])["hookSpecificOutput"]["decision"]
    assert decision["updatedInput"] == {"questions": questions, "answers": {"Which one?": "A"}}


QUESTIONS = [
    {"question": "Which one?", "options": [{"label": "A", "description": "first"}, {"label": "B\x1b[2J"}]},
    {"question": "Which ones?", "multiSelect": True, "options": [{"label": "C"}, {"label": "D"}]},
]


def test_a_question_is_answered_by_arguments_with_notes(daemon: Daemon) -> None:
    held, request_id = asks(daemon, "s5", tool_name="AskUserQuestion", tool_input={"questions": QUESTIONS})
    assert (qd(daemon.home, "answer", request_id)).returncode == 2
    assert "2 questions" in qd(daemon.home, "answer", request_id, "A").stderr
    noted = qd(daemon.home, "answer", request_id, "A", "D", "--notes", '{"Which one?":"for now"}', "--json")
    assert json.loads(noted.stdout)["notes"] == {"Which one?": "for now"}
    updated = json.loads(held.answer()[1])["hookSpecificOutput"]["decision"]["updatedInput"]
    assert updated["answers"] == {"Which one?": "A", "Which ones?": "D"}
    assert updated["annotations"] == {"Which one?": {"notes": "for now"}}
    shown = qd(daemon.home, "requests", request_id).stdout
    assert 'Which one? (note) "for now"' in shown


def test_at_a_terminal_each_question_is_asked(daemon: Daemon) -> None:
    held, request_id = asks(daemon, "s6", tool_name="AskUserQuestion", tool_input={"questions": QUESTIONS})
    screen = at_a_terminal(daemon.home, ("answer", request_id), ["2", "surely", "1,2", ""])
    assert "2. B⟨1b⟩[2J" in screen
    assert "\x1b[2J" not in screen
    updated = json.loads(held.answer()[1])["hookSpecificOutput"]["decision"]["updatedInput"]
    assert updated["answers"] == {"Which one?": "B\x1b[2J", "Which ones?": "C, D"}
    assert updated["annotations"] == {"Which one?": {"notes": "surely"}}


def test_at_a_terminal_a_form_is_filled_in_field_by_field(daemon: Daemon) -> None:
    fields = {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 18}, "pet": {"type": "string"}}
    form = {"requested_schema": {"type": "object", "properties": fields, "required": ["name"]}, "message": "Who?"}
    held = daemon.hold({"session_id": "s7", "hook_event_name": "Elicitation", "mcp_server_name": "el", **form})
    request_id = str(daemon.until_pending(1)[0]["request_id"])
    wrong = qd(daemon.home, "answer", request_id, "--answers", '{"name":"Bo","age":7}')
    assert (wrong.returncode, "answers.age: must be at least 18" in wrong.stderr) == (1, True)
    screen = at_a_terminal(daemon.home, ("answer", request_id), ["Bo", "7", "20", ""])
    assert "must be at least 18" in screen
    expected = json.loads(held.answer()[1])["hookSpecificOutput"]
    assert expected == {"hookEventName": "Elicitation", "action": "accept", "content": {"name": "Bo", "age": 20}}


def test_an_empty_answer_decides_nothing(daemon: Daemon) -> None:
    held, request_id = asks(daemon, "s8", tool_name="AskUserQuestion", tool_input={"questions": QUESTIONS[:1]})
    assert "nothing was answered" in at_a_terminal(daemon.home, ("answer", request_id), [""])
    assert qd(daemon.home, "pass", request_id).returncode == 0
    assert held.answer() == (204, b"")


def test_a_plan_is_approved_in_a_mode(daemon: Daemon) -> None:
    held, request_id = asks(daemon, "s9", tool_name="ExitPlanMode", tool_input={"plan": "1. build\n2. test"})
    assert "    2. test" in qd(daemon.home, "requests").stdout
    assert "qd allow" in qd(daemon.home, "answer", request_id, "yes").stderr
    assert qd(daemon.home, "allow", request_id, "--mode", "everything").returncode == 2
    assert qd(daemon.home, "allow", request_id, "--mode", "acceptEdits").returncode == 0
    changed = json.loads(held.answer()[1])["hookSpecificOutput"]["decision"]["updatedPermissions"]
    assert changed == [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]


def at_a_terminal(home: Path, words: tuple[str, ...], typed: list[str]) -> str:
    """The output of a command on a terminal where these lines are typed."""
    master, slave = pty.openpty()
    environ = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "QUARTERDECK_HOME": str(home), "TERM": "dumb"}
    command = [sys.executable, "-m", "quarterdeck", *words]
    with subprocess.Popen(command, env=environ, stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        os.write(master, "".join(line + "\n" for line in typed).encode())
        screen = b""
        with contextlib.suppress(OSError):
            while part := os.read(master, 1 << 16):
                screen += part
        process.wait(30)
    os.close(master)
    return screen.decode()


def test_up_in_plain_mode_takes_commands_from_a_pipe(daemon: Daemon) -> None:
    expected = qd(daemon.home, "up", "--plain", stdin="help\nlist\nquit\n")
    assert expected.returncode == 0
    assert "deny N [MESSAGE]" in expected.stdout
    assert "waits" in expected.stdout.splitlines()[-1]


def test_a_pass_is_silence(daemon: Daemon) -> None:
    held, request_id = asks(daemon, "s4")
    assert qd(daemon.home, "pass", request_id).returncode == 0
    assert held.answer() == (204, b"")


def test_reading_commands_print_tables_and_json(daemon: Daemon) -> None:
    daemon.hook({"session_id": "read-me", "hook_event_name": "UserPromptSubmit", "prompt": "fix [bold]it[/bold]"})
    assert "fix [bold]it[/bold]" in qd(daemon.home, "sessions").stdout
    assert "❯ fix [bold]it[/bold]" in qd(daemon.home, "feed").stdout
    for command in ("sessions", "feed", "requests", "status"):
        assert isinstance(json.loads(qd(daemon.home, command, "--json").stdout), dict)
    events = json.loads(qd(daemon.home, "feed", "--json", "--session", "read-me", "--kind", "user.prompt").stdout)[
        "events"
    ]
    assert [e["data"]["prompt"] for e in events] == ["fix [bold]it[/bold]"]
    assert json.loads(qd(daemon.home, "feed", "--json", "--after", str(events[0]["seq_no"])).stdout)["events"] == []


def test_the_feed_is_followed(daemon: Daemon) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "QUARTERDECK_HOME": str(daemon.home)}
    command = [sys.executable, "-m", "quarterdeck", "feed", "-f", "--json", "--limit", "1"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        following.stdout.readline()
        daemon.hook({"session_id": "followed", "hook_event_name": "Notification", "message": "here"})
        assert json.loads(following.stdout.readline())["data"] == {"message": "here"}
        following.terminate()


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["allow"], 1, "no requests are waiting"),
        (["nonsense"], 2, "No such command"),
        (["allow", "x", "--input", "["], 2, "invalid JSON"),
        (["allow", "x", "--input", "[]"], 2, "JSON object"),
        (["allow", "no-such-request"], 1, "no such request"),
        (["allow", "../../etc/passwd"], 1, "no such request"),
        (["feed", "--limit", "0"], 2, "'--limit': must be at least 1"),
        (["requests", "--status", "odd"], 2, "must be pending, decided, withdrawn or expired, is 'odd'"),
        (["feed", "--after", "-1"], 2, "'--after': must be at least 0"),
    ],
)
def test_wrong_arguments_are_named(daemon: Daemon, words: list[str], code: int, expected: str) -> None:
    done = qd(daemon.home, *words)
    assert (done.returncode, expected in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_mode_is_an_error_that_lists_the_valid_ones(tmp_path: Path) -> None:
    for option, named in (
        ("--mode", "must be sdk, tmux or pty, is 'bypassPermissions'"),
        ("--permission-mode", "must be default, acceptEdits, plan, dontAsk or auto, is 'bypassPermissions'"),
    ):
        wrong = qd(tmp_path, "run", option, "bypassPermissions", "go")
        assert (wrong.returncode, named in wrong.stderr) == (2, True)


@pytest.mark.parametrize("command", [["status"], ["sessions"], ["feed"], ["requests"], ["allow", "x"], ["stop"]])
def test_without_a_daemon_the_exit_code_is_three(tmp_path: Path, command: list[str]) -> None:
    done = qd(tmp_path / "home", *command)
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1


def test_up_starts_a_daemon_that_stays_and_stop_ends_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = qd(home, "up", QUARTERDECK_PORT="0")
    try:
        assert "Quarterdeck is running at http://127.0.0.1:" in first.stdout, first.stderr
        assert qd(home, "up", QUARTERDECK_PORT="0").stdout == first.stdout
        second = qd(home, "daemon", QUARTERDECK_PORT="0")
        assert (second.returncode, "already runs" in second.stderr) == (1, True)
        assert first.stdout.split()[-1] in second.stderr
    finally:
        assert qd(home, "stop").stdout == "Quarterdeck stopped.\n"
    until(lambda: not (home / "run" / "daemon.json").exists(), what="the note's removal")
    port = (home / "run" / "port").read_text()
    again = qd(home, "up", QUARTERDECK_PORT="0")
    qd(home, "stop")
    assert again.stdout.strip().endswith(f":{port}")


def test_several_starts_at_once_share_one_daemon(tmp_path: Path) -> None:
    home = tmp_path / "home"
    try:
        with ThreadPoolExecutor(3) as together:
            done = list(together.map(lambda _: qd(home, "up", QUARTERDECK_PORT="0"), range(3)))
        assert [one.stderr for one in done] == ["", "", ""]
        assert len({one.stdout for one in done}) == 1
    finally:
        qd(home, "stop")


def test_a_wrong_setting_stops_the_start_and_is_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").write_text("decide:\n  hold: maybe\n")
    done = qd(home, "daemon")
    assert (done.returncode, "decide.hold" in done.stderr) == (2, True)


def test_a_host_beyond_loopback_is_refused(tmp_path: Path) -> None:
    done = qd(tmp_path / "home", "daemon", QUARTERDECK_RUNNER_HOST="0.0.0.0")
    assert (done.returncode, "needs TLS" in done.stderr) == (2, True)


def test_doctor_says_what_to_do_next(tmp_path: Path) -> None:
    done = qd(tmp_path / "home", "doctor", "--json")
    checks = {c["name"]: c for c in json.loads(done.stdout)["checks"]}
    assert done.returncode == 1
    assert (checks["daemon"]["ok"], checks["daemon"]["fix"]) == (False, "qd up")
    assert checks["hooks"]["fix"].startswith("qd install")


def test_the_demo_plays_to_its_end_and_leaves_nothing(tmp_path: Path) -> None:
    done = qd(tmp_path / "home", "demo", "--speed", "200", "--patience", "0.5", TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    for expected in ("◆ Bash kubectl delete pvc", "? Question Which store", "Todo 3 of 3 done", "– Session ended"):
        assert expected in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_help_is_complete() -> None:
    done = qd(Path("/nonexistent/home"), "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: qd [OPTIONS] COMMAND")
    for command in ("up", "daemon", "install", "requests", "allow", "demo", "hook"):
        assert qd(Path("/nonexistent/home"), command, "--help").returncode == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("allow", "r1", "--remember", "forever"),
            "--remember: must be once, session, project, user or hub, is 'forever'",
        ),
        (("allow", "r1", "--mode", "wild"), "--mode: must be default, acceptEdits, auto or dontAsk, is 'wild'"),
        (
            ("allow", "r1", "--remember", "user", "--claude", "all"),
            "--claude: must be session, local, project or user, is 'all'",
        ),
        (("rules", "add", "permit", "Bash(ls)"), "the effect must be allow, deny or ask, is 'permit'"),
        (
            ("rules", "add", "allow", "Bash(ls)", "--scope", "all"),
            "--scope: must be once, session, project, user or hub",
        ),
        (("rules", "add", "Bash(ls)", "--effect", "permit"), "--effect: must be allow, deny or ask, is 'permit'"),
        (
            ("tokens", "create", "laptop", "--scope", "observe,root"),
            "--scope: must be ingest, observe, approve, edit, prompt, control or admin, is 'root'",
        ),
    ],
)
def test_an_invalid_option_value_is_named_with_the_valid_ones(
    daemon: Daemon, words: tuple[str, ...], expected: str
) -> None:
    done = qd(daemon.home, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert (expected in done.stderr, len(done.stderr.splitlines())) == (True, 1)


def test_a_question_is_not_allowed_and_the_command_that_answers_it_is_named(daemon: Daemon) -> None:
    held, request_id = asks(daemon, "s9", tool_name="AskUserQuestion", tool_input={"questions": QUESTIONS[:1]})
    done = qd(daemon.home, "allow", request_id)
    assert (done.returncode, f"qd answer {request_id}" in done.stderr) == (1, True)
    assert qd(daemon.home, "pass", request_id).returncode == 0
    assert held.answer() == (204, b"")


def test_the_card_shows_the_line_that_remembers_and_a_denial_once(daemon: Daemon) -> None:
    held, request_id = asks(daemon, "s10", tool_name="Bash", tool_input={"command": "git log 'it''s'"})
    shown = qd(daemon.home, "requests", request_id).stdout
    assert f"""qd allow {request_id} --remember session --pattern 'Bash(git log '"'"'it'"'"''"'"'s'"'"')'""" in shown
    assert qd(daemon.home, "deny", request_id).returncode == 0
    held.answer()
    assert qd(daemon.home, "requests", request_id).stdout.count("Denied by") == 1
    assert "Denied by cli: Denied" not in qd(daemon.home, "feed").stdout


def test_an_explanation_lists_the_file_rules_that_a_command_was_checked_against(daemon: Daemon) -> None:
    assert qd(daemon.home, "rules", "add", "deny", "Read(.env)").returncode == 0
    plain = qd(daemon.home, "rules", "explain", "Bash", "git log")
    assert "· deny Read(.env) · everywhere · is about other uses" in plain.stdout
    done = qd(daemon.home, "rules", "explain", "Bash", "python -c \"open('.env')\"")
    assert done.stdout.startswith("Asks you: another program may do what deny Read(.env) is about")
    assert "so it asks" in done.stdout
    assert qd(daemon.home, "rules", "clear", "--yes").returncode == 0


def test_a_daemon_that_hangs_is_named_with_the_command_that_ends_it(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as running:
        hung = Client.of_home(running.home, timeout=0.2)
        os.kill(running.pid, signal.SIGSTOP)
        try:
            with pytest.raises(NoDaemon, match=f"kill -9 {running.pid}, then start it with: qd up"):
                hung.get("/api/v1/me")
        finally:
            os.kill(running.pid, signal.SIGCONT)
        running.stop()
        with pytest.raises(NoDaemon, match=r"refused\); start it with: qd up"):
            hung.get("/api/v1/me")
