"""Rules of a real daemon: created over API and command line, remembered, kept over a restart, simulated."""

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


def permission(command: str, session: str = "s1", cwd: str = "/tmp") -> Json:
    return {
        "session_id": session,
        "hook_event_name": "PermissionRequest",
        "cwd": cwd,
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }


def decided(daemon: Daemon, payload: Json) -> Json:
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
    assert decided(daemon, permission("git log -3 | head")) == {"behavior": "allow"}
    _, page = daemon.api("GET", "/rules")
    [rule] = page["rules"]
    assert (rule["rule_id"], rule["hits"], rule["created_by"]) == (made["rule_id"], 1, "owner")
    assert rule["last_hit_at"] >= made["created_at"]
    _, requests = daemon.api("GET", "/requests?status=decided")
    decision = requests["requests"][0]["decision"]
    assert (decision["source"], decision["by"], decision["pattern"]) == ("rule", made["rule_id"], LOG)


@pytest.mark.law("R7")
def test_a_rule_applies_from_the_next_request_until_it_is_removed(daemon: Daemon) -> None:
    made = add(daemon, "deny", "Bash(git push:*)", note="ask Ann first")
    assert decided(daemon, permission("git push --force"))["message"].endswith("ask Ann first.")
    assert daemon.api("DELETE", f"/rules/{made['rule_id']}") == (200, {"ok": True})
    status, gone = daemon.api("DELETE", f"/rules/{made['rule_id']}")
    assert (status, gone["error"]["kind"]) == (404, "not_found")
    daemon.hold(permission("git push --force"))
    daemon.until_pending(1)


def test_a_remembered_decision_applies_after_a_restart(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        held = [daemon.hold(permission("npm run build", f"s{n}")) for n in range(3)]
        requests = daemon.until_pending(3)
        status, made = daemon.decide(requests[0], "allow", remember={"scope": "user", "expires": "7d"})
        assert status == 200
        assert made["remembered"]["pattern"] == "Bash(npm run build)"
        assert sorted(made["also_decided"]) == sorted(r["request_id"] for r in requests[1:])
        daemon.until_pending(0)
        assert {h.answer()[1] for h in held} == {ALLOW}
    with Daemon(tmp_path / "home") as daemon:
        assert decided(daemon, permission("npm run build", "s9")) == {"behavior": "allow"}


def test_a_pattern_that_does_not_cover_the_request_is_refused_and_nothing_is_decided(daemon: Daemon) -> None:
    daemon.hold(permission("make deploy"))
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


def test_a_project_rule_applies_below_its_folder_through_links(daemon: Daemon, tmp_path: Path) -> None:
    project, link = tmp_path / "project", tmp_path / "link"
    (project / "src").mkdir(parents=True)
    link.symlink_to(project)
    add(daemon, "allow", "Edit(src/**)", scope="project", scope_path=str(link))
    write = {"tool_name": "Write", "tool_input": {"file_path": "src/a.py", "content": ""}}
    assert decided(daemon, permission("", cwd=str(project)) | write) == {"behavior": "allow"}
    assert decided(daemon, permission("", cwd=str(link)) | write) == {"behavior": "allow"}
    (project / "src" / "out").symlink_to("/etc")
    escape = {"tool_name": "Write", "tool_input": {"file_path": "src/out/passwd", "content": ""}}
    daemon.hold(permission("", cwd=str(project)) | escape)
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


def test_a_duplicate_rule_is_refused(daemon: Daemon) -> None:
    made = add(daemon, "allow", LOG)
    status, error = daemon.api("POST", "/rules", {"effect": "allow", "pattern": LOG})
    assert (status, error["error"]["kind"], error["error"]["rule_id"]) == (409, "exists", made["rule_id"])


def test_a_rule_is_simulated_on_past_requests(daemon: Daemon) -> None:
    for n, word in enumerate(["allow", "allow", "deny"]):
        held = daemon.hold(permission("make test", f"s{n}"))
        [request] = daemon.until_pending(1)
        daemon.decide(request, word)
        held.answer()
    _, page = daemon.api("POST", "/rules/simulate", {"effect": "allow", "pattern": "Bash(make test:*)"})
    assert (page["seen"], page["decided"], page["next"]) == (3, 3, None)
    [surprise] = page["surprises"]
    assert surprise["surprise"] == "owner denied this"
    waiting = daemon.hold(permission("make test", "s4"))
    [request] = daemon.until_pending(1)
    _, page = daemon.api("POST", "/rules/simulate", {"effect": "allow", "pattern": "Bash(make test:*)"})
    assert (page["seen"], page["decided"]) == (3, 3), "one that waits is not a past request"
    daemon.decide(request, "deny")
    waiting.answer()
    _, first = daemon.api("POST", "/rules/simulate", {"effect": "allow", "pattern": "Bash(make test:*)", "limit": 2})
    assert (first["seen"], first["left"]) == (2, 2)
    more = {"effect": "allow", "pattern": "Bash(make test:*)", "limit": 2, "before": first["next"]}
    assert daemon.api("POST", "/rules/simulate", more)[1]["seen"] == 2


def test_habits_become_suggestions_unless_a_decision_contradicts_them(daemon: Daemon) -> None:
    for n in range(3):
        for command, word in (("make lint", "allow"), (f"make step{n}", "allow"), (f"git push o{n}", "deny")):
            held = daemon.hold(permission(command, f"s{n}"))
            [request] = daemon.until_pending(1)
            daemon.decide(request, word)
            held.answer()
    _, found = daemon.api("GET", "/rules/suggestions")
    offered = {(one["effect"], one["pattern"]): one["times"] for one in found["suggestions"]}
    assert offered[("allow", "Bash(make lint)")] == 3
    assert offered[("deny", "Bash(git push:*)")] == 3


def test_a_tool_with_its_input_in_its_name_is_refused_with_the_right_form(daemon: Daemon) -> None:
    status, answer = daemon.api("POST", "/rules/explain", {"tool_name": "Bash(mkdir foo)"})
    words = "tool_name: must be the name of a tool alone; send its input in tool_input"
    assert (status, answer["error"]["message"]) == (422, words)


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
    daemon.hold(permission("git status"))
    [request] = daemon.until_pending(1)
    _, found = daemon.api("POST", "/rules/explain", {"request_id": request["request_id"]})
    assert (found["effect"], found["reasons"]) == (None, ["no rule allows git status"])
    assert found["patterns"][0] == "Bash(git status)"


def test_an_agent_never_changes_what_guards_it(daemon: Daemon) -> None:
    add(daemon, "allow", "Bash")
    for command in ("qd rules add allow Bash", f"rm -rf {daemon.home}", "echo {} > ~/.claude/settings.json"):
        daemon.hold(permission(command))
    daemon.until_pending(3)


def test_the_command_line_can_do_all_of_it(daemon: Daemon, tmp_path: Path) -> None:
    made = json.loads(qd(daemon, "rules", "add", "allow", LOG, "--expires", "7d", "--json").stdout)
    assert made["expires_at"] > made["created_at"]
    assert "Allowed by rule Bash(git log:*)" in qd(daemon, "rules", "test", "Bash", "git log | wc -l").stdout
    assert "covers git log" in qd(daemon, "rules", "explain", "Bash", "git log -3").stdout
    assert "Allowed by rule Bash(git log:*)" in qd(daemon, "rules", "test", "Bash(git log -3)").stdout
    assert "covers git log" in qd(daemon, "rules", "explain", "Bash(git log -3)").stdout
    add(daemon, "deny", LOG, scope="session", scope_id="3d09e067-1")
    hint = "holds only for session 3d09e067; try --session"
    assert hint in qd(daemon, "rules", "explain", "Bash", "git log -3").stdout
    assert hint not in qd(daemon, "rules", "explain", "Bash", "git log -3", "--session", "s1").stdout
    qd(daemon, "rules", "clear", "--scope", "session", "--yes")
    assert json.loads(qd(daemon, "rules", "simulate", "allow", LOG, "--json").stdout)["seen"] == 0
    assert "No suggestions yet" in qd(daemon, "rules", "suggest").stdout
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
        (GOOD_AND + "{effect: allow, effect: deny, pattern: Bash(x)}", "effect appears twice"),
        (GOOD_AND + "{effect: deny, pattern: Bash(x)}\nrules: []", "rules appears twice"),
        (
            GOOD_AND + "{effect: allow, pattern: Bash(x), expires_at: 2001-01-01}",
            "rules[1].expires_at: is in the past",
        ),
        (GOOD_AND + "{effect: allow, pattern: Bash(x), expires_at: 2031-02-31}", "invalid YAML"),
        (GOOD_AND + "{effect: allow, pattern: Bash(x), expires_at: " + "9" * 5000 + "}", "invalid YAML"),
        (GOOD_AND + "{effect: allow, pattern: Bash(x), expires_at: !!timestamp x}", "invalid YAML"),
        (GOOD_AND + '{effect: allow, pattern: Bash(x), scope: project, scope_path: "/a\\0b"}', "rules[1].scope_path"),
        (GOOD_AND + "{effect: allow, pattern: Bash(x), scope: project, scope_path: /untrusted}", "is not trusted"),
        ("rules: &a [*a]", "rules[0]: is not a set of fields"),
        ("rules: " + "[" * 500_000, "nested too deeply"),
        (GOOD_AND.encode() + b"{effect: allow, pattern: Bash(caf\xe9)}", "invalid YAML"),
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


def test_a_rule_repeated_in_a_file_is_created_once(daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    places = [{"scope": "project", "scope_path": str(tmp_path / name)} for name in ("real", "link")]
    rows = [{"effect": "allow", "pattern": LOG, **place} for place in ({}, {}, *places)]
    file = tmp_path / "rules.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + yaml.safe_dump({"rules": rows}, line_break="\r\n").encode())
    assert "2 would be added, 2 already existed" in qd(daemon, "rules", "import", str(file), "--dry-run").stdout
    assert daemon.api("GET", "/rules")[1]["rules"] == []
    assert "2 added, 2 already existed" in qd(daemon, "rules", "import", str(file)).stdout
    assert "0 added, 4 already existed" in qd(daemon, "rules", "import", str(file)).stdout


@pytest.mark.law("R1")
def test_an_imported_file_decides_waiting_requests_by_all_its_rules(daemon: Daemon, tmp_path: Path) -> None:
    held = [daemon.hold(permission(command)) for command in ("git push", "git log")]
    daemon.until_pending(2)
    rows = [{"effect": "allow", "pattern": "Bash(git:*)"}, {"effect": "deny", "pattern": "Bash(git push:*)"}]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"rules": rows}))
    assert "They also decided 2 waiting" in qd(daemon, "rules", "import", str(tmp_path / "rules.yaml")).stdout
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
def test_a_narrowing_option_never_widens_a_rule(daemon: Daemon, words: tuple[str, ...]) -> None:
    qd(daemon, "rules", "add", "allow", LOG, *words, code=2)
    assert daemon.api("GET", "/rules")[1]["rules"] == []


def test_rules_are_removed_by_unambiguous_ids_all_or_none(daemon: Daemon) -> None:
    made = [add(daemon, "deny", f"Bash(x{n})")["rule_id"] for n in range(2)]
    for names, words in (
        ([""], "no rule starts with"),
        (["r_"], "more than one"),
        ([made[0], "none"], "nothing was removed"),
    ):
        assert words in qd(daemon, "rules", "remove", *names, code=1).stderr
    assert "must be once" in qd(daemon, "rules", "clear", "--scope", "galaxy", "--yes", code=2).stderr
    assert len(daemon.api("GET", "/rules")[1]["rules"]) == 2
    qd(daemon, "rules", "remove", made[0], made[0][:9], made[1])
    assert daemon.api("GET", "/rules")[1]["rules"] == []


def test_remembering_on_the_command_line_shows_the_rule(daemon: Daemon) -> None:
    daemon.hold(permission("npm run build -- --watch"))
    [request] = daemon.until_pending(1)
    output = qd(
        daemon, "allow", request["request_id"], "--remember", "project", "--pattern", "Bash(npm run build:*)"
    ).stdout
    assert "Remembered: allow Bash(npm run build:*) · in /tmp" in output
    assert "also trusts /tmp for rules: its allow rules take effect" in output
    assert decided(daemon, permission("npm run build")) == {"behavior": "allow"}
    daemon.hold(permission("make again"))
    [request] = daemon.until_pending(1)
    output = qd(daemon, "allow", request["request_id"], "--remember", "project").stdout
    assert ("Remembered" in output, "trusts" in output) == (True, False), "it is trusted already"


@pytest.mark.law("D17")
def test_several_requests_are_shown_first_and_decided_each_by_its_digest(daemon: Daemon) -> None:
    held = [daemon.hold(permission(f"make part{n}", f"s{n}")) for n in range(3)]
    ids = [request["request_id"] for request in daemon.until_pending(3)]
    unsure = qd(daemon, "allow", *ids, code=1)
    assert all(f"make part{n}" in unsure.stdout for n in range(3))
    assert "nothing was decided" in unsure.stderr
    assert len(daemon.pending()) == 3
    output = qd(daemon, "allow", *ids, "--yes").stdout
    assert output.count("Allowed: make part") == 3
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
