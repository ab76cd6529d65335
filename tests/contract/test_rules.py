"""Rules of a real daemon: made over API and command line, remembered, kept over a restart, tried on the past."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.daemon import Daemon, Json, decision_in

LOG = "Bash(git log:*)"


def qd(daemon: Daemon, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(daemon.home.parent), "QUARTERDECK_HOME": str(daemon.home)}
    command = [sys.executable, "-m", "quarterdeck", *words]
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)
    assert ended.returncode == code, ended.stderr
    return ended


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        yield running


ALLOW = b'{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'


def asked(command: str, session: str = "s1", cwd: str = "/tmp") -> Json:
    return {
        "session_id": session,
        "hook_event_name": "PermissionRequest",
        "cwd": cwd,
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }


def told(daemon: Daemon, payload: Json) -> Json:
    status, body = daemon.hook(payload)
    assert status == 200
    decision: Json = json.loads(body)["hookSpecificOutput"]["decision"]
    return decision


def add(daemon: Daemon, effect: str, pattern: str, **more: Any) -> Json:
    status, made = daemon.api("POST", "/rules", {"effect": effect, "pattern": pattern, **more})
    assert status == 201, made
    rule: Json = made
    return rule


def test_a_rule_decides_and_counts(daemon: Daemon) -> None:
    made = add(daemon, "allow", LOG)
    assert told(daemon, asked("git log -3 | head")) == {"behavior": "allow"}
    _, page = daemon.api("GET", "/rules")
    [rule] = page["rules"]
    assert (rule["rule_id"], rule["hits"], rule["created_by"]) == (made["rule_id"], 1, "owner")
    assert rule["last_hit_at"] >= made["created_at"]
    _, requests = daemon.api("GET", "/requests?status=decided")
    decision = requests["requests"][0]["decision"]
    assert (decision["source"], decision["by"], decision["pattern"]) == ("rule", made["rule_id"], LOG)


@pytest.mark.law("R7")
def test_a_rule_holds_for_the_next_request_and_no_longer_than_it_stands(daemon: Daemon) -> None:
    made = add(daemon, "deny", "Bash(git push:*)", note="ask Ann first")
    assert told(daemon, asked("git push --force"))["message"].endswith("ask Ann first.")
    assert daemon.api("DELETE", f"/rules/{made['rule_id']}") == (200, {"ok": True})
    status, gone = daemon.api("DELETE", f"/rules/{made['rule_id']}")
    assert (status, gone["error"]["kind"]) == (404, "not_found")
    daemon.hold(asked("git push --force"))
    daemon.until_pending(1)


def test_what_is_remembered_holds_after_a_restart(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        held = [daemon.hold(asked("npm run build", f"s{n}")) for n in range(3)]
        requests = daemon.until_pending(3)
        status, made = daemon.decide(requests[0], "allow", remember={"scope": "user", "expires": "7d"})
        assert status == 200
        assert made["remembered"]["pattern"] == "Bash(npm run build)"
        assert sorted(made["also_decided"]) == sorted(r["request_id"] for r in requests[1:])
        daemon.until_pending(0)
        assert {h.answer()[1] for h in held} == {ALLOW}
    with Daemon(tmp_path / "home") as daemon:
        assert told(daemon, asked("npm run build", "s9")) == {"behavior": "allow"}


def test_a_pattern_that_does_not_cover_the_request_is_refused_and_nothing_is_decided(daemon: Daemon) -> None:
    daemon.hold(asked("make deploy"))
    [request] = daemon.until_pending(1)
    for remember in (
        {"scope": "user", "pattern": LOG},
        {"scope": "user", "pattern": "Bash("},
        {"scope": "galaxy"},
        {"scope": "user", "expires": "soon"},
    ):
        status, error = daemon.decide(request, "allow", remember=remember)
        assert (status, error["error"]["kind"]) == (422, "invalid")
    status, _ = daemon.decide(request, "pass", remember={"scope": "user"})
    assert status == 422
    assert daemon.pending()[0]["request_id"] == request["request_id"]
    assert daemon.api("GET", "/rules")[1]["rules"] == []


def test_a_project_rule_holds_below_its_folder_through_links(daemon: Daemon, tmp_path: Path) -> None:
    project, link = tmp_path / "project", tmp_path / "link"
    (project / "src").mkdir(parents=True)
    link.symlink_to(project)
    add(daemon, "allow", "Edit(src/**)", scope="project", scope_path=str(link))
    write = {"tool_name": "Write", "tool_input": {"file_path": "src/a.py", "content": ""}}
    assert told(daemon, asked("", cwd=str(project)) | write) == {"behavior": "allow"}
    assert told(daemon, asked("", cwd=str(link)) | write) == {"behavior": "allow"}
    (project / "src" / "out").symlink_to("/etc")
    escape = {"tool_name": "Write", "tool_input": {"file_path": "src/out/passwd", "content": ""}}
    daemon.hold(asked("", cwd=str(project)) | escape)
    daemon.until_pending(1)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"effect": "allow"}, 422, None),
        ({"effect": "alow", "pattern": LOG}, 422, None),
        ({"effect": "allow", "pattern": "Bash(git log"}, 422, "pattern"),
        ({"effect": "allow", "pattern": "Bash(git\u202elog:*)"}, 422, "pattern"),
        ({"effect": "allow", "pattern": LOG, "scope": "session"}, 422, "scope_id"),
        ({"effect": "allow", "pattern": LOG, "scope": "project", "scope_id": "p_unknown"}, 422, "scope_id"),
        ({"effect": "allow", "pattern": LOG, "expires_at": 5.0}, 422, "expires_at"),
        ({"effect": "allow", "pattern": LOG, "expires_at": 1e300}, 422, "expires_at"),
        ({"effect": "allow", "pattern": LOG, "expires": "99999999d"}, 422, "expires_at"),
        ({"effect": "allow", "pattern": LOG, "scope": "project", "scope_path": "/a\0b"}, 422, "scope_path"),
        ({"effect": "allow", "pattern": LOG, "scope": "session", "scope_id": "a\x1bb"}, 422, "scope_id"),
        ({"effect": "allow", "pattern": LOG, "hits": 5}, 422, None),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_by_its_field(
    daemon: Daemon, body: Json, status: int, field: str | None
) -> None:
    answered, error = daemon.api("POST", "/rules", body)
    assert (answered, error["error"]["kind"]) == (status, "invalid")
    assert field in (None, error["error"]["field"])


def test_the_same_rule_twice_is_told_so(daemon: Daemon) -> None:
    made = add(daemon, "allow", LOG)
    status, error = daemon.api("POST", "/rules", {"effect": "allow", "pattern": LOG})
    assert (status, error["error"]["kind"], error["error"]["rule_id"]) == (409, "exists", made["rule_id"])


def test_the_past_tells_what_a_rule_would_have_done(daemon: Daemon) -> None:
    for n, word in enumerate(["allow", "allow", "deny"]):
        held = daemon.hold(asked("make test", f"s{n}"))
        [request] = daemon.until_pending(1)
        daemon.decide(request, word)
        held.answer()
    _, told_ = daemon.api("POST", "/rules/simulate", {"effect": "allow", "pattern": "Bash(make test:*)"})
    assert (told_["seen"], told_["decided"], told_["next"]) == (3, 3, None)
    [surprise] = told_["surprises"]
    assert surprise["surprise"] == "owner denied this"
    _, first = daemon.api("POST", "/rules/simulate", {"effect": "allow", "pattern": "Bash(make test:*)", "limit": 2})
    assert (first["seen"], first["left"]) == (2, 1)
    more = {"effect": "allow", "pattern": "Bash(make test:*)", "limit": 2, "before": first["next"]}
    assert daemon.api("POST", "/rules/simulate", more)[1]["seen"] == 1


def test_habits_become_suggestions_unless_a_decision_speaks_against_them(daemon: Daemon) -> None:
    for n in range(3):
        for command, word in (("make lint", "allow"), (f"make step{n}", "allow"), (f"git push o{n}", "deny")):
            held = daemon.hold(asked(command, f"s{n}"))
            [request] = daemon.until_pending(1)
            daemon.decide(request, word)
            held.answer()
    _, found = daemon.api("GET", "/rules/suggestions")
    offered = {(one["effect"], one["pattern"]): one["times"] for one in found["suggestions"]}
    assert offered[("allow", "Bash(make lint)")] == 3
    assert offered[("deny", "Bash(git push:*)")] == 3


def test_the_evaluation_is_explained(daemon: Daemon) -> None:
    add(daemon, "allow", LOG)
    add(daemon, "deny", "Bash(rm:*)")
    question = {"tool_name": "Bash", "tool_input": {"command": "git log; rm x"}, "cwd": "/tmp"}
    _, found = daemon.api("POST", "/rules/explain", question)
    assert (found["effect"], [r["pattern"] for r in found["rules"]]) == ("deny", ["Bash(rm:*)"])
    assert {(one["rule"]["pattern"], one["matched"]) for one in found["considered"]} == {
        (LOG, True),
        ("Bash(rm:*)", True),
    }
    daemon.hold(asked("git status"))
    [request] = daemon.until_pending(1)
    _, found = daemon.api("POST", "/rules/explain", {"request_id": request["request_id"]})
    assert (found["effect"], found["reasons"]) == (None, ["no rule allows git status"])
    assert found["patterns"][0] == "Bash(git status)"


def test_an_agent_never_changes_what_guards_it(daemon: Daemon) -> None:
    add(daemon, "allow", "Bash")
    for command in ("qd rules add allow Bash", f"rm -rf {daemon.home}", "echo {} > ~/.claude/settings.json"):
        daemon.hold(asked(command))
    daemon.until_pending(3)


def test_the_command_line_does_all_of_it(daemon: Daemon, tmp_path: Path) -> None:
    made = json.loads(qd(daemon, "rules", "add", "allow", LOG, "--expires", "7d", "--json").stdout)
    assert made["expires_at"] > made["created_at"]
    assert "Allowed by rule Bash(git log:*)" in qd(daemon, "rules", "test", "Bash", "git log | wc -l").stdout
    assert "covers git log" in qd(daemon, "rules", "explain", "Bash", "git log -3").stdout
    assert json.loads(qd(daemon, "rules", "simulate", "allow", LOG, "--json").stdout)["seen"] == 0
    assert "Nothing yet" in qd(daemon, "rules", "suggest").stdout
    exported = qd(daemon, "rules", "export").stdout
    assert yaml.safe_load(exported)["rules"][0]["pattern"] == LOG
    qd(daemon, "rules", "clear", "--yes")
    assert json.loads(qd(daemon, "rules", "list", "--json").stdout)["rules"] == []
    (tmp_path / "rules.yaml").write_text(exported)
    assert "1 added" in qd(daemon, "rules", "import", str(tmp_path / "rules.yaml")).stdout
    [rule] = json.loads(qd(daemon, "rules", "list", "--json").stdout)["rules"]
    assert qd(daemon, "rules", "remove", rule["rule_id"]).returncode == 0


GOOD_AND = "rules:\n- {effect: allow, pattern: Bash(good)}\n- "


@pytest.mark.law("R4")
@pytest.mark.law("I4")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "rules: is missing"),
        (GOOD_AND + "{effect: allow, pattern: Bash, if: 1}", "rules[1].if"),
        (GOOD_AND + "{effect: allow, effect: deny, pattern: Bash(x)}", "effect is given twice"),
        (GOOD_AND + "{effect: deny, pattern: Bash(x)}\nrules: []", "rules is given twice"),
        (
            GOOD_AND + "{effect: allow, pattern: Bash(x), expires_at: 2001-01-01}",
            "rules[1].expires_at: lies in the past",
        ),
        (GOOD_AND + "{effect: allow, pattern: Bash(x), expires_at: 2031-02-31}", "is no YAML"),
        (GOOD_AND + "{effect: allow, pattern: Bash(x), expires_at: " + "9" * 5000 + "}", "is no YAML"),
        (GOOD_AND + "{effect: allow, pattern: Bash(x), expires_at: !!timestamp x}", "is no YAML"),
        (GOOD_AND + '{effect: allow, pattern: Bash(x), scope: project, scope_path: "/a\\0b"}', "rules[1].scope_path"),
        (GOOD_AND + "{effect: allow, pattern: Bash(x), scope: project, scope_path: /untrusted}", "is not trusted"),
        ("rules: &a [*a]", "rules[0]: is no set of fields"),
        ("rules: " + "[" * 500_000, "is nested too deep"),
        (GOOD_AND.encode() + b"{effect: allow, pattern: Bash(caf\xe9)}", "is no YAML"),
        (b"#" * (5 << 20), "larger than"),
    ],
)
def test_a_file_with_something_wrong_is_refused_in_a_line_and_adds_nothing(
    daemon: Daemon, tmp_path: Path, content: str | bytes, words: str
) -> None:
    daemon.api("POST", "/projects/untrust", {"path": "/untrusted"})
    raw = content.encode() if isinstance(content, str) else content
    (tmp_path / "rules.yaml").write_bytes(raw)
    ended = qd(daemon, "rules", "import", str(tmp_path / "rules.yaml"), code=1)
    assert words in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert daemon.api("GET", "/rules")[1]["rules"] == []


def test_what_a_file_says_twice_or_by_another_path_is_made_once(daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    places = [{"scope": "project", "scope_path": str(tmp_path / name)} for name in ("real", "link")]
    rows = [{"effect": "allow", "pattern": LOG, **place} for place in ({}, {}, *places)]
    file = tmp_path / "rules.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + yaml.safe_dump({"rules": rows}, line_break="\r\n").encode())
    assert "2 would be added, 2 were" in qd(daemon, "rules", "import", str(file), "--dry-run").stdout
    assert daemon.api("GET", "/rules")[1]["rules"] == []
    assert "2 added, 2 were" in qd(daemon, "rules", "import", str(file)).stdout
    assert "0 added, 4 were" in qd(daemon, "rules", "import", str(file)).stdout


@pytest.mark.law("R1")
def test_a_file_settles_what_waits_by_all_of_it(daemon: Daemon, tmp_path: Path) -> None:
    held = [daemon.hold(asked(command)) for command in ("git push", "git log")]
    daemon.until_pending(2)
    rows = [{"effect": "allow", "pattern": "Bash(git:*)"}, {"effect": "deny", "pattern": "Bash(git push:*)"}]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": rows}))
    assert "They settled 2 waiting" in qd(daemon, "rules", "import", str(tmp_path / "rules.yaml")).stdout
    assert [decision_in(one.answer()[1]) for one in held] == ["deny", "allow"]


@pytest.mark.law("R4")
@pytest.mark.parametrize(
    "words",
    [
        ("--session", ""),
        ("--scope", "user", "--session", "s1"),
        ("--scope", "user", "--project", "/p"),
        ("--scope", "once", "--project", "/p"),
        ("--session", "s1", "--project", "/p"),
        ("--scope", "session"),
    ],
)
def test_what_is_said_to_narrow_a_rule_never_widens_it(daemon: Daemon, words: tuple[str, ...]) -> None:
    qd(daemon, "rules", "add", "allow", LOG, *words, code=2)
    assert daemon.api("GET", "/rules")[1]["rules"] == []


def test_rules_are_removed_by_a_name_that_means_one_and_all_named_or_none(daemon: Daemon) -> None:
    made = [add(daemon, "deny", f"Bash(x{n})")["rule_id"] for n in range(2)]
    for names, words in (([""], "no such rule"), (["r_"], "more than one"), ([made[0], "none"], "nothing was removed")):
        assert words in qd(daemon, "rules", "remove", *names, code=1).stderr
    assert "must be once" in qd(daemon, "rules", "clear", "--scope", "galaxy", "--yes", code=2).stderr
    assert len(daemon.api("GET", "/rules")[1]["rules"]) == 2
    qd(daemon, "rules", "remove", made[0], made[0][:9], made[1])
    assert daemon.api("GET", "/rules")[1]["rules"] == []


def test_remembering_on_the_command_line_says_what_it_keeps(daemon: Daemon) -> None:
    daemon.hold(asked("npm run build -- --watch"))
    [request] = daemon.until_pending(1)
    said = qd(
        daemon, "allow", request["request_id"], "--remember", "project", "--pattern", "Bash(npm run build:*)"
    ).stdout
    assert "Remembered: allow Bash(npm run build:*) · in /tmp" in said
    assert told(daemon, asked("npm run build")) == {"behavior": "allow"}


@pytest.mark.law("D17")
def test_several_are_shown_first_and_decided_each_by_its_own(daemon: Daemon) -> None:
    held = [daemon.hold(asked(f"make part{n}", f"s{n}")) for n in range(3)]
    ids = [request["request_id"] for request in daemon.until_pending(3)]
    unsure = qd(daemon, "allow", *ids, code=1)
    assert all(f"make part{n}" in unsure.stdout for n in range(3))
    assert "nothing was decided" in unsure.stderr
    assert len(daemon.pending()) == 3
    said = qd(daemon, "allow", *ids, "--yes").stdout
    assert said.count("Allowed: make part") == 3
    assert {h.answer()[1] for h in held} == {ALLOW}
    again = qd(daemon, "deny", *ids[:2], "--yes", code=1)
    assert again.stdout.count("Not decided") == 2


@pytest.mark.law("I6")
def test_no_hidden_character_reaches_the_terminal_from_an_export_or_a_refusal(daemon: Daemon) -> None:
    add(daemon, "deny", "Bash(rm:*)", note="a\u202eb\x1b]0;c\x07")
    exported = qd(daemon, "rules", "export").stdout
    assert not set("\u202e\x1b\x07") & set(exported)
    assert yaml.safe_load(exported)["rules"][0]["note"] == "a\u202eb\x1b]0;c\x07"
    refused = qd(daemon, "rules", "test", "\x1b]0;c\x07\u202e", "x", code=2).stderr
    assert not set("\u202e\x1b\x07") & set(refused)
