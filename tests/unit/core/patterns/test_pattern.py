"""Patterns: the uses each one covers, and the messages for invalid ones."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.patterns.pattern import MAX_LENGTH, WholeToolPattern, read_pattern
from quarterdeck.errors import BadPattern
from tests.support.rulebook import CWD, HOME, edits, effect_of, reads, runs, use

REFUSED = [
    ("", "is empty"),
    ("   ", "is empty"),
    ("Bash(git log", "not closed"),
    ("Bash git log)", "never opened"),
    ("Bash(git log))", "do not balance"),
    ("Bash()", "write Bash for every use"),
    ("(git log)", "no tool is named"),
    ("*", "is not a tool name"),
    ("bash(ls)", "write Bash"),
    ("webfetch", "write WebFetch"),
    ("Edit(src\u202e/**)", "U+202E"),
    ("Edit(\x07)", "U+0007"),
    ("Edit(a\nb)", "on one line"),
    ("Edit(../x)", "must not go up"),
    ("Edit(//etc/../x)", "must not go up"),
    ("Edit(~root/x)", "your own home"),
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
    ("Bash(run_in_background:true, command:ls)", "cannot be matched; the fields of Bash are"),
    ("mcp__", "is not an MCP tool"),
    ("mcp__a b", "is not an MCP tool"),
    ("mcp__git*__x", "in full"),
    ("mcp__git*", "in full"),
    ("mcp__a__b(x)", "mcp__a__b(field:value)"),
    ("mcp__a__*(x:y)", "one tool"),
    ("Bash(" + "x" * MAX_LENGTH + ")", "longer than"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_an_invalid_pattern_is_refused_with_a_right_form(text: str, words: str) -> None:
    with pytest.raises(BadPattern) as refused:
        read_pattern(text)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Bash(* --version)", "whole word"),
        ("Bash(ls*)", "whole word; write Bash(ls:*)"),
        ("Bash(FOO=1 npm test:*)", "one plain command before it; write Bash(git log:*)"),
        ("Bash(npm test; rm:*)", "one plain command before it; write Bash(npm test:*)"),
        ("Bash(ls > out.txt)", "writes to"),
        ("Bash(run_in_background:true)", "every command"),
        ("mcp__*", "in full"),
        ("mcp__shell__run(command:git *)", "is executed"),
        ("PowerShell(command:Get-*)", "is executed"),
    ],
)
def test_a_pattern_that_is_too_open_can_be_denied_but_not_allowed(text: str, words: str) -> None:
    assert read_pattern(text, "deny").text
    with pytest.raises(BadPattern) as refused:
        read_pattern(text, "allow")
    assert words in str(refused.value)


@given(st.text(max_size=60) | st.text(alphabet="Bash()Edit:*_/\\ mcp'\"", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    for effect in ("allow", "deny"):
        with suppress(BadPattern):
            pattern = read_pattern(text, effect)
            assert read_pattern(pattern.text, effect).text == pattern.text


@pytest.mark.parametrize("text", ["Bash(*)", "Bash(:*)", "Bash(**)", "Bash", "Edit(**)", "WebFetch(*)", "mcp__a__b(*)"])
def test_a_star_alone_means_the_whole_tool(text: str) -> None:
    pattern = read_pattern(text)
    assert isinstance(pattern.form, WholeToolPattern)
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
    assert effect_of(edits(path), f"allow {pattern}") == ("allow" if covers else None)


def test_case_matters_only_on_a_case_sensitive_file_system() -> None:
    upper = edits(f"{CWD}/SRC/Ä.PY", folds=True)
    assert effect_of(upper, "allow Edit(src/ä.py)") == "allow"
    assert effect_of(edits(f"{CWD}/SRC/A.py"), "deny Edit(src/**)") is None


@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit", "NotebookEdit"])
def test_an_edit_rule_covers_every_tool_that_edits(tool: str) -> None:
    assert effect_of(edits(f"{CWD}/src/a", tool=tool), "allow Edit(src/**)") == "allow"
    assert effect_of(edits(f"{CWD}/src/a", tool=tool), "allow Read(src/**)") is None


@pytest.mark.parametrize("tool", ["Read", "NotebookRead", "Grep", "Glob", "LS"])
def test_a_read_rule_covers_every_tool_that_reads(tool: str) -> None:
    assert effect_of(reads(f"{CWD}/src/a", tool=tool), "allow Read(src/**)") == "allow"
    assert effect_of(reads(f"{CWD}/src/a", tool=tool), "allow Edit(src/**)") is None


def test_a_tool_that_searches_folders_is_covered_by_the_folder() -> None:
    assert effect_of(use("Grep", at=f"{CWD}/src", path="src", pattern="x"), "allow Read(src/**)") == "allow"
    assert effect_of(use("Grep", at=CWD, pattern="x"), "allow Read(src/**)") is None


@pytest.mark.parametrize("pattern", ["/etc/*", "../../other/*", "~/.ssh/*"])
def test_a_glob_that_leaves_its_folder_is_not_allowed_by_the_folder(pattern: str) -> None:
    assert (
        effect_of(use("Glob", at=f"{CWD}/src", path="src", pattern=pattern), "allow Read(src/**)", "allow Read")
        == "allow"
    )
    assert effect_of(use("Glob", at=f"{CWD}/src", path="src", pattern=pattern), "allow Read(src/**)") is None


def test_a_glob_is_denied_where_it_really_searches() -> None:
    assert effect_of(use("Glob", at=CWD, pattern="/etc/*.conf"), "deny Read(//etc/**)") == "deny"


def test_a_link_does_not_dodge_a_deny_from_either_side() -> None:
    by_link = edits("/etc/passwd", written="src/link")
    assert effect_of(by_link, "deny Edit(src/**)") == "deny"
    assert effect_of(by_link, "deny Edit(//etc/**)") == "deny"
    assert effect_of(by_link, "allow Edit(src/**)") is None
    assert effect_of(edits(f"{CWD}/secret/a", written="src/../secret/a"), "deny Edit(secret/**)") == "deny"


def test_an_unresolved_path_is_never_allowed_but_still_denied() -> None:
    unresolved = use("Edit", file_path="src/a.py")
    assert effect_of(unresolved, "allow Edit(src/**)") is None
    assert effect_of(unresolved, "deny Edit(src/**)") == "deny"


def test_a_deny_of_a_folder_covers_everything_below_it() -> None:
    assert effect_of(edits(f"{CWD}/secret/a/b"), "deny Edit(secret)") == "deny"
    assert effect_of(edits(f"{CWD}/secret/a/b"), "allow Edit(./secret)") is None


def test_a_path_too_long_for_any_file_is_denied_and_never_allowed() -> None:
    path = CWD + "/src/" + "a/" * 5000 + "b"
    assert effect_of(edits(path), "allow Edit(src/**)") is None
    assert effect_of(edits(path), "deny Edit(other/**)") == "deny"


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
def test_a_domain_covers_its_host_or_with_a_star_the_hosts_below_it(url: str, domain: str, covers: bool) -> None:
    assert effect_of(use("WebFetch", url=url), f"allow WebFetch(domain:{domain})") == ("allow" if covers else None)


@pytest.mark.parametrize(
    "url", ["https://x@evil.net/", "https://ev%69l.net/", "https://ｅvil.net/", "evil.net", 7, None]
)
def test_a_url_that_can_be_read_in_two_ways_is_denied_by_any_domain(url: object) -> None:
    assert effect_of(use("WebFetch", url=url), "deny WebFetch(domain:example.org)") == "deny"


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
    assert effect_of(use(tool), f"allow {pattern}") == allowed
    assert effect_of(use(tool), f"deny {pattern}") == denied


def test_every_mcp_tool_can_be_denied_at_once() -> None:
    assert effect_of(use("mcp__any__thing"), "deny mcp__*") == "deny"
    assert effect_of(use("Bash", command="ls"), "deny mcp__*") is None


def test_a_sub_agent_rule_covers_both_names_of_the_tool() -> None:
    for tool in ("Agent", "Task"):
        assert effect_of(use(tool, subagent_type="Explore"), "allow Agent(Explore)") == "allow"
        assert effect_of(use(tool, subagent_type="Explore"), "allow Task(Explore)") == "allow"
        assert effect_of(use(tool, subagent_type="Explorer"), "allow Agent(Explore)") is None
        assert effect_of(use(tool, prompt="x"), "deny Agent(general-purpose)") == "deny"
    assert effect_of(use("Agent", subagent_type="my-plugin:reviewer"), "allow Agent(my-plugin:reviewer)") == "allow"
    assert effect_of(use("Agent", subagent_type="x", model="opus"), "ask Agent(model:opus)") == "ask"


def test_a_skill_is_allowed_with_arguments_only_if_the_rule_says_so() -> None:
    assert effect_of(use("Skill", skill="review"), "allow Skill(review)") == "allow"
    assert effect_of(use("Skill", skill="review", args="--fix"), "allow Skill(review)") is None
    assert effect_of(use("Skill", skill="review", args="--fix"), "allow Skill(review *)") == "allow"
    assert effect_of(use("Skill", skill="review", args="--fix"), "allow Skill(review:*)") == "allow"
    assert effect_of(use("Skill", skill="review", args="--fix"), "deny Skill(review)") == "deny"
    assert effect_of(use("Skill", skill="reviewer"), "allow Skill(review *)") is None


def test_every_named_field_must_match() -> None:
    rule = "allow mcp__db__query(database:staging, table:user_*)"
    assert effect_of(use("mcp__db__query", database="staging", table="user_names", limit=5), rule) == "allow"
    assert effect_of(use("mcp__db__query", database="staging", table="orders"), rule) is None
    assert effect_of(use("mcp__db__query", database="staging"), rule) is None
    assert effect_of(use("mcp__db__query", database=["staging"], table="user_x"), rule) is None


def test_a_field_is_allowed_by_its_plain_value_and_denied_by_anything_in_it() -> None:
    assert effect_of(use("X", flag=True, size=3), "allow X(flag:true, size:3)") == "allow"
    assert effect_of(use("X", path="/srv/../etc/passwd"), "allow X(path:/srv/*)") is None
    assert effect_of(use("X", path="/srv/../etc/passwd"), "deny X(path:/srv/*)") == "deny"
    assert effect_of(use("X", paths=[{"a": "/srv/1"}]), "deny X(paths:/srv/*)") == "deny"
    assert effect_of(use("X", paths=["a"] * 5000), "deny X(paths:/srv/*)") == "deny"


def test_an_ask_rule_can_name_fields_of_a_shell_command() -> None:
    outside = runs("ls", dangerouslyDisableSandbox=True)
    assert effect_of(outside, "ask Bash(dangerouslyDisableSandbox:true)") == "ask"
    assert effect_of(outside, "allow Bash(ls)") is None
    assert effect_of(runs("ls"), "ask Bash(dangerouslyDisableSandbox:true)", "allow Bash(ls)") == "allow"


def test_tool_names_match_exactly() -> None:
    assert effect_of(use("Todowrite"), "allow TodoWrite") is None
    assert effect_of(use("TodoWrite"), "allow TodoWrite") == "allow"


@pytest.mark.law("R8")
@pytest.mark.parametrize("tool", ["Edit", "Write", "Read"])
@pytest.mark.parametrize("path", ["/etc/cron.d/x", "/etc/shadow", f"{HOME}/.bashrc"])
def test_two_stars_allow_the_project_and_forbid_the_machine(tool: str, path: str) -> None:
    assert effect_of(edits(path, tool=tool), f"allow {tool}(**)") is None
    assert effect_of(edits(f"{CWD}/a/b", tool=tool), f"allow {tool}(**)") == "allow"
    assert effect_of(edits(path, tool=tool), f"deny {tool}(**)") == "deny"
    assert effect_of(edits(path, tool=tool), f"ask {tool}(**)") == "ask"


def test_a_notebook_with_two_paths_is_judged_by_both() -> None:
    here = f"{CWD}/a.ipynb"
    two_paths = use("NotebookEdit", at=here, file_path=here, notebook_path="/etc/x", new_source="x")
    assert effect_of(two_paths, "allow Edit(./**)") is None
    assert effect_of(two_paths, "deny Edit(//etc/**)", "allow Edit") == "deny"


@pytest.mark.parametrize("glob", ["../x/*", "/etc/*", "*.py,~/x/y"])
def test_a_search_whose_glob_leaves_its_folder_is_not_allowed(glob: str) -> None:
    assert effect_of(use("Grep", at=CWD, path=CWD, pattern="x", glob="*.py"), "allow Read(./**)") == "allow"
    assert effect_of(use("Grep", at=CWD, path=CWD, pattern="x", glob=glob), "allow Read(./**)") != "allow"
