"""Patterns: what is a pattern, what each covers, and what is refused with which words."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.patterns.pattern import LIMIT, Whole, read_pattern
from quarterdeck.errors import BadPattern
from tests.support.rulebook import CWD, HOME, edits, reads, runs, said, use

REFUSED = [
    ("", "is empty"),
    ("   ", "is empty"),
    ("Bash(git log", "not closed"),
    ("Bash git log)", "never opened"),
    ("Bash(git log))", "do not balance"),
    ("Bash()", "write Bash for every use"),
    ("(git log)", "no tool is named"),
    ("*", "is no tool's name"),
    ("bash(ls)", "write Bash"),
    ("webfetch", "write WebFetch"),
    ("Edit(src\u202e/**)", "U+202E"),
    ("Edit(\x07)", "U+0007"),
    ("Edit(a\nb)", "on one line"),
    ("Edit(../x)", "must not go up"),
    ("Edit(//etc/../x)", "must not go up"),
    ("Edit(~root/x)", "one's own home"),
    ("Edit(!src/**)", "deny rule"),
    ("Edit(src/[ab].py)", r"write \["),
    ("Edit(src/*.{ts,js})", r"write \{"),
    ("Edit(//)", "names no file"),
    ("Edit(src/ )", "a blank"),
    ("Edit(file_path:src/**)", "Edit(src/**)"),
    ("Edit(" + "a/" * 65 + "b)", "folders deep"),
    ("WebFetch(example.org)", "domain:example.org"),
    ("WebFetch(domain:)", "domain:example.org"),
    ("WebFetch(domain:https://example.org/x)", "without scheme"),
    ("WebFetch(domain:a.*.org)", "without scheme"),
    ("TodoWrite(x)", "TodoWrite(field:value)"),
    ("WebSearch(query:)", "has no value"),
    ("Bash(run_in_background:true, command:ls)", "is no field to match on"),
    ("mcp__", "is no MCP tool"),
    ("mcp__a b", "is no MCP tool"),
    ("mcp__git*__x", "in full"),
    ("mcp__git*", "in full"),
    ("mcp__a__b(x)", "mcp__a__b(field:value)"),
    ("mcp__a__*(x:y)", "one tool"),
    ("Bash(" + "x" * LIMIT + ")", "longer than"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_means_nothing_is_refused_with_a_right_form(text: str, words: str) -> None:
    with pytest.raises(BadPattern) as refused:
        read_pattern(text)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Bash(* --version)", "whole word"),
        ("Bash(ls*)", "whole word"),
        ("Bash(FOO=1 npm test:*)", "one plain command"),
        ("Bash(git log; rm:*)", "one plain command"),
        ("Bash(ls > out.txt)", "writes to"),
        ("Bash(run_in_background:true)", "every command"),
        ("mcp__*", "in full"),
        ("mcp__shell__run(command:git *)", "is run"),
        ("PowerShell(command:Get-*)", "is run"),
    ],
)
def test_what_is_too_open_can_be_denied_and_not_allowed(text: str, words: str) -> None:
    assert read_pattern(text, "deny").text
    with pytest.raises(BadPattern) as refused:
        read_pattern(text, "allow")
    assert words in str(refused.value)


@given(st.text(max_size=60) | st.text(alphabet="Bash()Edit:*_/\\ mcp'\"", max_size=40))
def test_any_text_is_a_pattern_or_refused(text: str) -> None:
    for effect in ("allow", "deny"):
        with suppress(BadPattern):
            pattern = read_pattern(text, effect)
            assert read_pattern(pattern.text, effect).text == pattern.text


@pytest.mark.parametrize("text", ["Bash(*)", "Bash(:*)", "Bash(**)", "Bash", "Edit(**)", "WebFetch(*)", "mcp__a__b(*)"])
def test_a_star_alone_is_the_tool_itself(text: str) -> None:
    pattern = read_pattern(text)
    assert isinstance(pattern.form, Whole)
    assert "(" not in pattern.text


FILES = [
    ("Edit(src/**)", f"{CWD}/src/a.py", True),
    ("Edit(src/**)", f"{CWD}/src/deep/a.py", True),
    ("Edit(src/**)", f"{CWD}/srcs/a.py", False),
    ("Edit(src/**)", "/elsewhere/src/a.py", False),
    ("Edit(src/*)", f"{CWD}/src/deep/a.py", False),
    ("Edit(src/)", f"{CWD}/src/deep/a.py", True),
    ("Edit(./a.py)", f"{CWD}/a.py", True),
    ("Edit(./a.py)", f"{CWD}/src/a.py", False),
    ("Edit(a.py)", f"{CWD}/src/a.py", True),
    ("Edit(*.py)", f"{CWD}/src/deep/a.py", True),
    ("Edit(*.py)", "/elsewhere/a.py", False),
    ("Edit(/a.py)", f"{CWD}/a.py", True),
    ("Edit(/a.py)", f"{CWD}/src/a.py", False),
    ("Edit(/a.py)", "/a.py", False),
    ("Edit(//etc/**)", "/etc/hosts", True),
    ("Edit(//etc/hosts)", "/etc/hosts", True),
    ("Edit(//etc/hosts)", "/etc/hosts2", False),
    ("Edit(//**/.env)", "/srv/x/.env", True),
    ("Edit(~/notes/**)", f"{HOME}/notes/a.md", True),
    ("Edit(~/notes/**)", "/home/other/notes/a.md", False),
    (r"Edit(app/\[id\]/page.tsx)", f"{CWD}/app/[id]/page.tsx", True),
    ("Edit(app/(group)/page.tsx)", f"{CWD}/app/(group)/page.tsx", True),
    ("Edit(src/A.py)", f"{CWD}/src/a.py", False),
]


@pytest.mark.parametrize(("pattern", "path", "covers"), FILES)
def test_files_are_matched_by_their_real_path(pattern: str, path: str, covers: bool) -> None:
    assert said(edits(path), f"allow {pattern}") == ("allow" if covers else None)


def test_case_counts_only_where_the_file_system_says_so() -> None:
    upper = edits(f"{CWD}/SRC/Ä.PY", folds=True)
    assert said(upper, "allow Edit(src/ä.py)") == "allow"
    assert said(edits(f"{CWD}/SRC/A.py"), "deny Edit(src/**)") is None


@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit", "NotebookEdit"])
def test_an_edit_rule_is_about_every_tool_that_edits(tool: str) -> None:
    assert said(edits(f"{CWD}/src/a", tool=tool), "allow Edit(src/**)") == "allow"
    assert said(edits(f"{CWD}/src/a", tool=tool), "allow Read(src/**)") is None


@pytest.mark.parametrize("tool", ["Read", "NotebookRead", "Grep", "Glob", "LS"])
def test_a_read_rule_is_about_every_tool_that_reads(tool: str) -> None:
    assert said(reads(f"{CWD}/src/a", tool=tool), "allow Read(src/**)") == "allow"
    assert said(reads(f"{CWD}/src/a", tool=tool), "allow Edit(src/**)") is None


def test_a_tool_that_looks_in_folders_is_covered_by_the_folder() -> None:
    assert said(use("Grep", at=f"{CWD}/src", path="src", pattern="x"), "allow Read(src/**)") == "allow"
    assert said(use("Grep", at=CWD, pattern="x"), "allow Read(src/**)") is None


@pytest.mark.parametrize("pattern", ["/etc/*", "../../other/*", "~/.ssh/*"])
def test_a_glob_that_leaves_its_folder_is_not_allowed_by_the_folder(pattern: str) -> None:
    assert (
        said(use("Glob", at=f"{CWD}/src", path="src", pattern=pattern), "allow Read(src/**)", "allow Read") == "allow"
    )
    assert said(use("Glob", at=f"{CWD}/src", path="src", pattern=pattern), "allow Read(src/**)") is None


def test_a_glob_is_denied_where_it_really_looks() -> None:
    assert said(use("Glob", at=CWD, pattern="/etc/*.conf"), "deny Read(//etc/**)") == "deny"


def test_a_link_does_not_dodge_a_deny_from_either_side() -> None:
    by_link = edits("/etc/passwd", written="src/link")
    assert said(by_link, "deny Edit(src/**)") == "deny"
    assert said(by_link, "deny Edit(//etc/**)") == "deny"
    assert said(by_link, "allow Edit(src/**)") is None
    assert said(edits(f"{CWD}/secret/a", written="src/../secret/a"), "deny Edit(secret/**)") == "deny"


def test_a_path_that_could_not_be_resolved_is_not_allowed_and_still_denied() -> None:
    unresolved = use("Edit", file_path="src/a.py")
    assert said(unresolved, "allow Edit(src/**)") is None
    assert said(unresolved, "deny Edit(src/**)") == "deny"


def test_a_deny_of_a_folder_is_about_all_below_it() -> None:
    assert said(edits(f"{CWD}/secret/a/b"), "deny Edit(secret)") == "deny"
    assert said(edits(f"{CWD}/secret/a/b"), "allow Edit(./secret)") is None


def test_a_path_longer_than_any_file_has_is_denied_and_not_allowed() -> None:
    path = CWD + "/src/" + "a/" * 5000 + "b"
    assert said(edits(path), "allow Edit(src/**)") is None
    assert said(edits(path), "deny Edit(other/**)") == "deny"


HOSTS = [
    ("https://example.org/x", "example.org", True),
    ("http://EXAMPLE.org:8080?x", "example.org", True),
    ("https://example.org.", "example.org", True),
    ("https://docs.example.org/", "example.org", False),
    ("https://docs.example.org/", "*.example.org", True),
    ("https://example.org/", "*.example.org", False),
    ("https://notexample.org/", "*.example.org", False),
    ("https://example.org.evil.net/", "example.org", False),
    ("https://example.org@evil.net/", "example.org", False),
    ("https://evil.net\\@example.org/", "example.org", False),
    ("https://ex%61mple.org/", "example.org", False),
    ("https://bücher.example/", "bücher.example", False),
    ("https://xn--bcher-kva.example/", "bücher.example", True),
    ("ftp://example.org/", "example.org", False),
    ("example.org", "example.org", False),
]


@pytest.mark.parametrize(("url", "domain", "covers"), HOSTS)
def test_a_domain_is_that_host_and_only_with_a_star_those_below_it(url: str, domain: str, covers: bool) -> None:
    assert said(use("WebFetch", url=url), f"allow WebFetch(domain:{domain})") == ("allow" if covers else None)


@pytest.mark.parametrize(
    "url", ["https://x@evil.net/", "https://ev%69l.net/", "https://ｅvil.net/", "evil.net", 7, None]
)
def test_a_url_that_can_be_read_in_two_ways_is_denied_by_any_domain(url: object) -> None:
    assert said(use("WebFetch", url=url), "deny WebFetch(domain:example.org)") == "deny"


MCP = [
    ("mcp__github__get_issue", "mcp__github__get_issue", "allow", "deny"),
    ("mcp__github__get_issue", "mcp__github", "allow", "deny"),
    ("mcp__github__get_issue", "mcp__github__*", "allow", "deny"),
    ("mcp__github__get_issue", "mcp__github__get_*", "allow", "deny"),
    ("mcp__github__create_issue", "mcp__github__get_*", None, None),
    ("mcp__github2__get_issue", "mcp__github", None, None),
    ("mcp__my__server__x", "mcp__my__*", None, "deny"),
    ("mcp__my__server__x", "mcp__my", None, "deny"),
    ("mcp__my__server__x", "mcp__my__server__*", "allow", "deny"),
    ("mcp__my__server__x", "mcp__my__server__x", "allow", "deny"),
    ("mcp__my__server__x", "mcp__my__server", None, "deny"),
    ("mcp__my__serverx", "mcp__my__server", None, None),
]


@pytest.mark.parametrize(("tool", "pattern", "allowed", "denied"), MCP)
def test_a_server_rule_does_not_allow_another_server_that_begins_alike(
    tool: str, pattern: str, allowed: str | None, denied: str | None
) -> None:
    assert said(use(tool), f"allow {pattern}") == allowed
    assert said(use(tool), f"deny {pattern}") == denied


def test_every_mcp_tool_can_be_denied_at_once() -> None:
    assert said(use("mcp__any__thing"), "deny mcp__*") == "deny"
    assert said(use("Bash", command="ls"), "deny mcp__*") is None


def test_a_sub_agent_is_named_under_either_name_of_its_tool() -> None:
    for tool in ("Agent", "Task"):
        assert said(use(tool, subagent_type="Explore"), "allow Agent(Explore)") == "allow"
        assert said(use(tool, subagent_type="Explore"), "allow Task(Explore)") == "allow"
        assert said(use(tool, subagent_type="Explorer"), "allow Agent(Explore)") is None
        assert said(use(tool, prompt="x"), "deny Agent(general-purpose)") == "deny"
    assert said(use("Agent", subagent_type="my-plugin:reviewer"), "allow Agent(my-plugin:reviewer)") == "allow"
    assert said(use("Agent", subagent_type="x", model="opus"), "ask Agent(model:opus)") == "ask"


def test_a_skill_is_allowed_with_what_it_is_told_only_when_the_rule_says_so() -> None:
    assert said(use("Skill", skill="review"), "allow Skill(review)") == "allow"
    assert said(use("Skill", skill="review", args="--fix"), "allow Skill(review)") is None
    assert said(use("Skill", skill="review", args="--fix"), "allow Skill(review *)") == "allow"
    assert said(use("Skill", skill="review", args="--fix"), "allow Skill(review:*)") == "allow"
    assert said(use("Skill", skill="review", args="--fix"), "deny Skill(review)") == "deny"
    assert said(use("Skill", skill="reviewer"), "allow Skill(review *)") is None


def test_every_named_field_must_match() -> None:
    rule = "allow mcp__db__query(database:staging, table:user_*)"
    assert said(use("mcp__db__query", database="staging", table="user_names", limit=5), rule) == "allow"
    assert said(use("mcp__db__query", database="staging", table="orders"), rule) is None
    assert said(use("mcp__db__query", database="staging"), rule) is None
    assert said(use("mcp__db__query", database=["staging"], table="user_x"), rule) is None


def test_a_field_is_allowed_by_its_plain_value_and_denied_by_anything_in_it() -> None:
    assert said(use("X", flag=True, size=3), "allow X(flag:true, size:3)") == "allow"
    assert said(use("X", path="/srv/../etc/passwd"), "allow X(path:/srv/*)") is None
    assert said(use("X", path="/srv/../etc/passwd"), "deny X(path:/srv/*)") == "deny"
    assert said(use("X", paths=[{"a": "/srv/1"}]), "deny X(paths:/srv/*)") == "deny"
    assert said(use("X", paths=["a"] * 5000), "deny X(paths:/srv/*)") == "deny"


def test_fields_of_a_shell_command_can_be_asked_about() -> None:
    outside = runs("ls", dangerouslyDisableSandbox=True)
    assert said(outside, "ask Bash(dangerouslyDisableSandbox:true)") == "ask"
    assert said(outside, "allow Bash(ls)") is None
    assert said(runs("ls"), "ask Bash(dangerouslyDisableSandbox:true)", "allow Bash(ls)") == "allow"


def test_tool_names_match_exactly() -> None:
    assert said(use("Todowrite"), "allow TodoWrite") is None
    assert said(use("TodoWrite"), "allow TodoWrite") == "allow"
