"""Offered patterns: each covers the use, the first covers nothing else, and none is too broad."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model.tool_use import ToolUse
from quarterdeck.core.rules.pattern_suggestions import suggested_patterns
from quarterdeck.core.shell.script import only_filters, read_script
from tests.support.rulebook import CWD, QUARTERDECK_HOME, edits, effect_of, reads, runs, use

COMMANDS = [
    ("git log -3", ["Bash(git log -3)", "Bash(git log:*)"]),
    ("git log -3 | head -2", ["Bash(git log -3 | head -2)", "Bash(git log:*)"]),
    ("git add a && git add b", ["Bash(git add a && git add b)", "Bash(git add:*)"]),
    ("git add a && git commit -m x", ["Bash(git add a && git commit -m x)"]),
    ("git remote show origin", ["Bash(git remote show origin)", "Bash(git remote show:*)"]),
    ("git -C sub log", ["Bash(git -C sub log)", "Bash(git log:*)"]),
    ("git", ["Bash(git)"]),
    ("npm test", ["Bash(npm test)", "Bash(npm test:*)"]),
    ("npm run test:unit -- -w", ["Bash(npm run test:unit -- -w)", "Bash(npm run test:unit:*)"]),
    ("cargo test -q", ["Bash(cargo test -q)", "Bash(cargo test:*)"]),
    ("python -m pytest -q", ["Bash(python -m pytest -q)", "Bash(python -m pytest:*)"]),
    ("python scripts/x.py --all", ["Bash(python scripts/x.py --all)", "Bash(python scripts/x.py:*)"]),
    ("pytest -q", ["Bash(pytest -q)", "Bash(pytest:*)"]),
    ("ls src/*.py", [r"Bash(ls src/\*.py)", "Bash(ls:*)"]),
    ("rm -rf build", ["Bash(rm -rf build)"]),
    ("curl https://example.org", ["Bash(curl https://example.org)"]),
    ("echo $(ls)", []),
    ("ls > out.txt", []),
    ("X=1 make", []),
    ("ls 'unclosed", []),
    ("qd allow r1", []),
    ("rm -rf ~", []),
    ("", []),
    ("docker run alpine ls", ["Bash(docker run alpine ls)"]),
    ("kubectl -n staging get pods", ["Bash(kubectl -n staging get pods)", "Bash(kubectl get:*)"]),
    ("git --no-pager log -5", ["Bash(git --no-pager log -5)", "Bash(git log:*)"]),
]


@pytest.mark.law("R5")
@pytest.mark.parametrize(("command", "patterns"), COMMANDS)
def test_a_command_offers_the_exact_line_and_then_its_prefix(command: str, patterns: list[str]) -> None:
    assert list(suggested_patterns(runs(command))) == patterns


@pytest.mark.parametrize(
    "name",
    [
        "python",
        "bash",
        "sudo",
        "env",
        "xargs",
        "sh",
        "node",
        "git",
        "npx",
        "uv run",
        "find",
        "docker run",
        "docker exec",
        "pnpm exec",
        "uvx",
    ],
)
def test_a_program_that_runs_anything_is_never_offered_with_an_open_end(name: str) -> None:
    for rest in ("", " x", " -c x", " ./x y", " sh -c x", " python x"):
        assert f"Bash({name}:*)" not in suggested_patterns(runs(name + rest))


def test_a_file_offers_its_path_and_then_the_folders_up_to_the_working_folder() -> None:
    assert suggested_patterns(edits(f"{CWD}/src/a/b.py")) == (
        f"Edit(/{CWD}/src/a/b.py)",
        "Edit(src/a/*)",
        "Edit(src/a/**)",
        "Edit(src/**)",
        "Edit(./**)",
    )
    assert suggested_patterns(edits(f"{CWD}/b.py", tool="Write")) == (f"Edit(/{CWD}/b.py)", "Edit(./*)", "Edit(./**)")
    assert suggested_patterns(reads("/etc/app/x.conf")) == ("Read(//etc/app/x.conf)", "Read(//etc/app/*)")
    assert suggested_patterns(use("Grep", at=f"{CWD}/src", path="src")) == (
        f"Read(/{CWD}/src)",
        "Read(src/**)",
        "Read(./**)",
    )


def test_other_tools_offer_their_host_name_or_server() -> None:
    assert suggested_patterns(use("WebFetch", url="https://docs.example.org/x")) == (
        "WebFetch(domain:docs.example.org)",
    )
    assert suggested_patterns(use("WebFetch", url="https://a@b.org")) == ()
    assert suggested_patterns(use("mcp__github__get_issue", n=1)) == ("mcp__github__get_issue", "mcp__github__*")
    assert suggested_patterns(use("mcp__my__server__x")) == ("mcp__my__server__x", "mcp__my__server__*")
    assert suggested_patterns(use("Task", subagent_type="Explore")) == ("Task(Explore)",)
    assert suggested_patterns(use("Skill", skill="review", args="x")) == ("Skill(review *)",)
    assert suggested_patterns(use("Skill", skill="review")) == ("Skill(review)", "Skill(review *)")
    assert suggested_patterns(use("WebSearch", query="x")) == ("WebSearch",)
    assert suggested_patterns(use("mcp__shell__run", command="ls *")) == (r"mcp__shell__run(command:ls \*)",)


@pytest.mark.parametrize(
    "tool_use",
    [
        use("Edit", file_path="a.py"),
        edits(QUARTERDECK_HOME + "/config.yaml"),
        edits(f"{CWD}/.claude/settings.json"),
        edits(f"{CWD}/a\u202eb.py"),
        use("AskUserQuestion"),
        use("ExitPlanMode"),
        runs("ls", dangerouslyDisableSandbox=True),
    ],
)
def test_nothing_is_offered_if_no_rule_can_safely_allow_it(tool_use: ToolUse) -> None:
    assert suggested_patterns(tool_use) == ()


words = st.text(alphabet="abgit -./*'\"()\\[]{}?!$:=;&|~é", min_size=1, max_size=14)
commands = st.lists(st.sampled_from(["git log", "ls -l", "npm run x", "echo", "|", "&&", "head"]) | words, max_size=5)
names = st.text(alphabet="ab.*?[](){}'\"\\ !~é-", min_size=1, max_size=8).filter(lambda name: name not in (".", ".."))
paths = st.lists(names, min_size=1, max_size=4).map(lambda parts: CWD + "/" + "/".join(parts))
subjects = (
    commands.map(lambda parts: runs(" ".join(parts)))
    | paths.map(edits)
    | paths.map(lambda path: reads(path, cwd="/elsewhere"))
    | names.map(lambda name: use("Agent", subagent_type=name))
    | names.map(lambda name: use("Skill", skill=name))
    | names.map(lambda name: use("mcp__shell__run", command=name))
)


@pytest.mark.law("R5")
@given(subjects)
def test_every_offered_pattern_covers_the_use(tool_use: ToolUse) -> None:
    for pattern in suggested_patterns(tool_use):
        assert effect_of(tool_use, f"allow {pattern}") == "allow"


@pytest.mark.law("R5")
@given(paths, paths)
def test_the_exact_path_covers_no_other_path(path: str, other: str) -> None:
    covered = [
        effect_of(edits(other), f"allow {pattern}") == "allow" for pattern in suggested_patterns(edits(path))[:1]
    ]
    assert covered in ([], [path == other])


@pytest.mark.law("R5")
@given(commands.map(" ".join), commands.map(" ".join))
def test_the_exact_line_covers_no_other_command(line: str, other: str) -> None:
    """Exceptions: the same command again, or filtered by a program that only reads."""
    more = [f"{line} && {other}", f"{line} {other}", other]
    for pattern in suggested_patterns(runs(line))[:1]:
        for text in more:
            allowed = effect_of(runs(text), f"allow {pattern}") == "allow"
            assert not allowed or same_commands(text, line)


def same_commands(text: str, line: str) -> bool:
    """True if the text runs only commands of the line, and filters."""
    known = {call.words for call in read_script(line).calls}
    return all(call.words in known or only_filters(call) for call in read_script(text).calls)
