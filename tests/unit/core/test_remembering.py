"""What is offered to remember: it covers the use, the first covers nothing else, and nothing says too much."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model.tool_use import Subject
from quarterdeck.core.rules.pattern_suggestions import patterns_for
from quarterdeck.core.shell.script import only_reads, read_script
from tests.support.rulebook import CWD, OURS, edits, reads, runs, said, use

COMMANDS = [
    ("git log -3", ["Bash(git log -3)", "Bash(git log:*)"]),
    ("git log -3 | head -2", ["Bash(git log -3 | head -2)", "Bash(git log:*)"]),
    ("git add a && git add b", ["Bash(git add a && git add b)", "Bash(git add:*)"]),
    ("git add a && git commit -m x", ["Bash(git add a && git commit -m x)"]),
    ("git remote show origin", ["Bash(git remote show origin)", "Bash(git remote show:*)"]),
    ("git -C sub log", ["Bash(git -C sub log)"]),
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
]


@pytest.mark.law("R5")
@pytest.mark.parametrize(("command", "patterns"), COMMANDS)
def test_a_command_is_remembered_from_the_exact_line_to_what_it_does(command: str, patterns: list[str]) -> None:
    assert list(patterns_for(runs(command))) == patterns


@pytest.mark.parametrize(
    "name", ["python", "bash", "sudo", "env", "xargs", "sh", "node", "git", "npx", "uv run", "find"]
)
def test_what_runs_anything_is_never_offered_open(name: str) -> None:
    for rest in ("", " x", " -c x", " ./x y", " sh -c x", " python x"):
        assert f"Bash({name}:*)" not in patterns_for(runs(name + rest))


def test_a_file_is_remembered_from_its_path_to_the_folder_of_the_session() -> None:
    assert patterns_for(edits(f"{CWD}/src/a/b.py")) == (
        f"Edit(/{CWD}/src/a/b.py)",
        "Edit(src/a/*)",
        "Edit(src/a/**)",
        "Edit(src/**)",
        "Edit(./**)",
    )
    assert patterns_for(edits(f"{CWD}/b.py", tool="Write")) == (f"Edit(/{CWD}/b.py)", "Edit(./*)", "Edit(./**)")
    assert patterns_for(reads("/etc/app/x.conf")) == ("Read(//etc/app/x.conf)", "Read(//etc/app/*)")
    assert patterns_for(use("Grep", at=f"{CWD}/src", path="src")) == (
        f"Read(/{CWD}/src)",
        "Read(src/**)",
        "Read(./**)",
    )


def test_other_tools_are_remembered_by_what_they_are_about() -> None:
    assert patterns_for(use("WebFetch", url="https://docs.example.org/x")) == ("WebFetch(domain:docs.example.org)",)
    assert patterns_for(use("WebFetch", url="https://a@b.org")) == ()
    assert patterns_for(use("mcp__github__get_issue", n=1)) == ("mcp__github__get_issue", "mcp__github__*")
    assert patterns_for(use("mcp__my__server__x")) == ("mcp__my__server__x", "mcp__my__server__*")
    assert patterns_for(use("Task", subagent_type="Explore")) == ("Task(Explore)",)
    assert patterns_for(use("Skill", skill="review", args="x")) == ("Skill(review *)",)
    assert patterns_for(use("Skill", skill="review")) == ("Skill(review)", "Skill(review *)")
    assert patterns_for(use("WebSearch", query="x")) == ("WebSearch",)
    assert patterns_for(use("mcp__shell__run", command="ls *")) == (r"mcp__shell__run(command:ls \*)",)


@pytest.mark.parametrize(
    "subject",
    [
        use("Edit", file_path="a.py"),
        edits(OURS + "/config.yaml"),
        edits(f"{CWD}/.claude/settings.json"),
        edits(f"{CWD}/a\u202eb.py"),
        use("AskUserQuestion"),
        use("ExitPlanMode"),
        runs("ls", dangerouslyDisableSandbox=True),
    ],
)
def test_nothing_is_offered_where_no_rule_safely_can(subject: Subject) -> None:
    assert patterns_for(subject) == ()


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
def test_whatever_is_offered_covers_the_use(subject: Subject) -> None:
    for pattern in patterns_for(subject):
        assert said(subject, f"allow {pattern}") == "allow"


@pytest.mark.law("R5")
@given(paths, paths)
def test_the_exact_path_covers_no_other(path: str, other: str) -> None:
    covered = [said(edits(other), f"allow {pattern}") == "allow" for pattern in patterns_for(edits(path))[:1]]
    assert covered in ([], [path == other])


@pytest.mark.law("R5")
@given(commands.map(" ".join), commands.map(" ".join))
def test_the_exact_line_covers_no_other_command(line: str, other: str) -> None:
    """But for the same command again, or filtered by what only reads."""
    more = [f"{line} && {other}", f"{line} {other}", other]
    for pattern in patterns_for(runs(line))[:1]:
        for text in more:
            allowed = said(runs(text), f"allow {pattern}") == "allow"
            assert not allowed or same_commands(text, line)


def same_commands(text: str, line: str) -> bool:
    """Whether the text runs nothing but what the line runs, and filters."""
    known = {call.words for call in read_script(line).calls}
    return all(call.words in known or only_reads(call) for call in read_script(text).calls)
