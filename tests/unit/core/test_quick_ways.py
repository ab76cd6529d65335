"""What the core does quickly says the same as the plain, slow way."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.core.model.tool_use import Subject
from quarterdeck.core.patterns.command_paths import files_named
from quarterdeck.core.patterns.match import forbids, look_at
from quarterdeck.core.patterns.path_prefilter import Marks
from quarterdeck.core.patterns.paths import Files, read_files
from quarterdeck.core.patterns.pattern import read_pattern
from quarterdeck.core.rules.command_rules import forbids_command
from quarterdeck.core.rules.rulebook import Rulebook
from quarterdeck.core.rules.self_protection import line_touches_us, touches_us
from quarterdeck.core.shell.fast_parser import is_agreed, read_quick
from quarterdeck.core.shell.options import KNOWN, interprets, runs_or_writes
from quarterdeck.core.shell.plain_parser import read_plain, stretches_of, unquote
from quarterdeck.core.shell.programs import TOOLS
from quarterdeck.core.shell.script import read_script
from quarterdeck.core.shell.tree_parser import agrees, parse
from tests.support.rulebook import rule
from tests.support.shell_fuzz import CHARACTERS, texts
from tests.support.slow_ways import commands_of_tree, guarded, known_tool, uses

FOLDERS = [
    "/",
    "/h",
    "/h/me",
    "/h/me/p",
    "/h/me/.claude",
    "/h/me/.claude/worktrees/x",
    "/h/me/.claude/plugins/x",
    "/h/me/.local/state",
    "/h/me/.local/state/deck",
    "/h/me/.local/state/deck/logs",
    "/h/me/.local/state/decks",
    "/h/me/deck",
    "/H/Me/Deck",
    "/etc/claude-code",
    "/h/claude",
    "/srv/deck/.claude.json",
]
OURS = ["", "/h/me/.local/state/deck", "/h/me/.local/state/Deck/", "/deck", "/h/me/deck", "/q", "/h/me/.claude/deck"]
PARTS = [
    *("deck", "DECK", "decks", "state", ".local", ".claude", ".Claude", "claude-code", ".claude.json", "settings.json"),
    *(
        "settings.local.json",
        "plugins",
        "managed-settings.json",
        "h",
        "me",
        "p",
        "..",
        ".",
        "...",
        "~",
        "*",
        "d*",
        "[d]",
    ),
    *("{deck,x}", "", "x", "src", "q", "quarterdeck", "token", "link-to-deck"),
]
NAMES = [
    *("cat", "ls", "cp", "rm", "mv", "cd", "pushd", "CD", "tee", "grep", "find", "git", "qd", "/bin/rm", "python3.12"),
    *("uv", "sudo rm", "sudo", "chmod", "echo", "rsync", "env", "quarterdeck", "sed"),
]

paths = st.builds(
    lambda start, parts: start + "/".join(parts),
    st.sampled_from(["", "", "/", "~/", "./", "../", "//", "--out=", "a=/", "-delete", "-m", "/h/me/"]),
    st.lists(st.sampled_from(PARTS), max_size=5),
)
quoted = st.builds(
    lambda word, form, at: form.format(word[:at], word[at:]),
    paths,
    st.sampled_from(["{}{}", "{}{}", "{}{}", "'{}{}'", '"{}{}"', "{}'{}'", '{}""{}', "{}\\{}", "{}''{}"]),
    st.integers(0, 6),
)
commands = st.builds(lambda name, words: " ".join([name, *words]), st.sampled_from(NAMES), st.lists(quoted, max_size=4))
lines = st.builds(
    lambda found, join, end: join.join(found) + end,
    st.lists(commands, min_size=1, max_size=4),
    st.sampled_from([" && ", "; ", " | ", "\n"]),
    st.sampled_from(["", "", "", " > deck/x", " > .claude/settings.json", " # .claude"]),
)


def _at(line: str, cwd: str, home: str = "/h/me", ours: str = "/h/me/.local/state/deck") -> Subject:
    return Subject(tool_name="Bash", tool_input={"command": line}, session_id="s", cwd=cwd, home=home, our_home=ours)


subjects = st.builds(
    _at, lines, st.sampled_from(FOLDERS), st.sampled_from(["/h/me", *FOLDERS]), st.sampled_from([OURS[1], *OURS])
)


def _readable(subject: Subject) -> bool:
    script = read_script(subject.command)
    return bool(script.calls) and "cannot be parsed" not in script.doubts


@pytest.mark.law("R1")
@given(subjects.filter(_readable))
@example(_at("cp a ../../settings.json", "/h/me/.claude/worktrees/x"))
@example(_at("grep deck", "/", ours="/deck"))
@example(_at("cp a settings.json", "/h/me/.claude"))
@example(_at("cp a b", "/h/me/.claude/plugins/x"))
@example(_at("cd .claude && cp a settings.json", "/h/me/p"))
@example(_at("cd .local/state && cat deck/token", "/h/me"))
@example(_at("cd ~/.local/state && cd deck && cat token", "/h/me/p"))
@example(_at("cat ~/token deck", "/srv", home="/h/me/.local/state/deck"))
@example(_at("cat x/../../deck/token", "/h/me/.local/state/decks"))
@example(_at("/bin/rm -rf /h", "/srv"))
@example(_at("python3.12 -m quarterdeck allow", "/srv"))
@settings(max_examples=400)
def test_the_guard_passes_over_nothing_that_the_path_of_every_word_shows(subject: Subject) -> None:
    if guarded(subject):  # it also asks for wildcards and searches, which this way does not show
        assert touches_us(subject, subject.our_home) is not None


options = st.sampled_from(sorted({word for known in TOOLS.values() for word in known.words.split()})) | st.builds(
    lambda sign, word, size, end: sign + word[:size] + end,
    st.sampled_from(["", "-", "--", "+"]),
    st.sampled_from(sorted({w for known in TOOLS.values() for w in (known.longs + " " + known.harmless).split()}))
    | st.text("abcdefoOxXsPn", max_size=4),
    st.integers(0, 20),
    st.sampled_from(["", "=", "=x"]),
)
# Those that are read by more than their options.
BY_TABLE = sorted(
    {name for name in TOOLS if " " not in name}
    - {"git", "sed", "make", "tar", "xxd", "npm", "pnpm", "curl", "go", "tsc", "less"}
    - {"sqlite3", "psql", "mysql", "vim", "rustc", "javac"}
)


programs = st.sampled_from(sorted({*KNOWN, "python3.12", "/usr/bin/perl", "ls"}))
arguments = options | st.sampled_from(
    [
        "-m",
        "-c",
        "-e",
        "-",
        "--",
        "x",
        "x y",
        "s/a/b/w f",
        "a=b",
        "ext::x",
        "-C",
        "-i",
        "--version",
        "http.server",
        "@f",
    ]
)


@pytest.mark.law("R2")
@given(programs, st.lists(arguments, max_size=5), st.integers(1, 5))
@settings(max_examples=1000)
def test_what_runs_or_writes_behind_some_words_does_so_at_all(name: str, rest: list[str], named: int) -> None:
    assert runs_or_writes((name, *rest), 0) or not runs_or_writes((name, *rest), named)


@pytest.mark.law("R2")
@given(programs, st.lists(arguments, max_size=5))
@settings(max_examples=1000)
def test_what_interprets_a_text_runs_it(name: str, rest: list[str]) -> None:
    assert runs_or_writes((name, *rest), 0) or not interprets((name, *rest))


@pytest.mark.law("R2")
@given(st.sampled_from(BY_TABLE), st.lists(options, min_size=1, max_size=5), st.integers(1, 4))
@example("sort", ["--out"], 1)
@example("docker", ["--config=x"], 1)
@example("rg", ["-ez"], 1)
@settings(max_examples=400)
def test_options_are_found_that_the_table_names(name: str, rest: list[str], named: int) -> None:
    known = known_tool(name)
    assert known is not None
    assert runs_or_writes((name, *rest), named) == uses(known, rest[named - 1 :])


texts_to_read = st.integers(0, 2**32).map(lambda seed: next(texts(seed)))
soup = st.lists(st.sampled_from([*CHARACTERS, " ", "a", "ls", " -l"]), max_size=30).map("".join)


@pytest.mark.law("R2")
@given(texts_to_read | soup | lines)
def test_a_clear_text_has_the_same_words_in_both_readings(text: str) -> None:
    plain = read_plain(text) if text.isascii() and not read_script(text).doubts else []
    assert plain is not None
    cut = commands_of_tree(text) if plain else []
    assert [[unquote(word)[0] for word in words] for words in cut] == [command.words for command in plain]


# fmt: off
plain_words = st.sampled_from([
    "ls", "git", "-n", "--out=x", "src/a.py", "2", "a:b", "if", "time", "a=b", "@P", "x@y", "set", "/bin/sh", "'a b'",
    '"a b"', "--since='2 days'", "''", "'a=~b'", "'`'", "'$x'", '"$x"', "a'b'c", "{}", "-", "é", "'é'", "~", "a  b",
])
# fmt: on
plain_commands = st.builds(
    lambda words, end: " ".join(words) + end,
    st.lists(plain_words, min_size=1, max_size=5),
    st.sampled_from(["", "", "", " 2>&1", " >/dev/null", " > /dev/null 2>&1", " 2", " >&1", " >x", "2>&1", " "]),
)
joined = st.tuples(plain_commands, st.sampled_from([" && ", " | ", "; ", " || ", " & ", "|&", "|", "&&", ";;", "\n"]))
plain_lines = st.builds(
    lambda lead, found, last, end: lead + "".join(map("".join, found)) + last + end,
    st.sampled_from(["", "", " "]),
    st.lists(joined, max_size=3),
    plain_commands,
    st.sampled_from(["", "", "", ";", " &", " |", " &&", "\t", " # c"]),
)


@pytest.mark.law("R2")
@given(plain_lines | texts_to_read | soup | lines)
@example("ls -la 'a b' 2>&1 | head -n 3 && cat x; wc -l &")
@settings(max_examples=400)
def test_the_quick_reading_of_a_line_is_the_plain_one(text: str) -> None:
    quick = read_quick(text)
    if quick is not None:
        calls, plain = quick.calls, read_plain(text)
        assert plain is not None
        assert {start: known[0] for start, known in quick.stretches.items()} == {one.start: one.end for one in plain}
        assert [(list(call.words), call.piped) for call in calls] == [(one.words, one.piped) for one in plain]
        assert [call.source for call in calls] == [text[one.start : max(one.end, one.redirected)] for one in plain]
        assert not any(one.globs or one.values or one.reads for one in plain)
        data = text.encode()
        assert is_agreed(parse(data), quick) == agrees(parse(data), data, stretches_of(plain))


@pytest.mark.law("R2")
@pytest.mark.parametrize(
    "text", ["ls", "ls -la 'a b' 2>&1 | head -n 3", "git log --since='2 weeks' && cat src/a.py >/dev/null; wc -l"]
)
def test_the_plainest_lines_are_read_quickly(text: str) -> None:
    assert read_quick(text) is not None


@pytest.mark.law("R2")
@pytest.mark.parametrize(
    ("read", "parsed"),
    [
        ("git log x", "git log-x"),  # the tree has one word less in the same stretch
        ("git log-x", "git log x"),
        ("git log x", "git-log-x"),
        ("ls a b && cat c d", "ls a-b && cat c d"),
        ("ls a b && cat c d", "ls a b && cat c-d"),
        ("ls 'a b' c", "ls  'a b'c"),  # a word with quotes has more nodes
        ("ls 'a b' c", "ls ab bc c"),
        ('ls "a b" c', "ls 'a b' c"),
        ("ls --x='a b'", "ls --x=a-b--"),
        ("ls --x='a b'", "ls x y z u v"),
        ("ls a && ls b", "ls a || ls b ; c"),  # more than the commands is not the same
        ("ls a 2>&1", "ls a 2>&1x"),
    ],
)
def test_the_tree_of_a_stretch_has_as_many_nodes_as_there_are_words(read: str, parsed: str) -> None:
    quick = read_quick(read)
    assert quick is not None
    assert is_agreed(parse(read.encode()), quick)
    assert not is_agreed(parse(parsed.encode()), quick)


@pytest.mark.law("R2")
@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_reading_with_another_number_of_words_than_the_tree_is_refused(count: int) -> None:
    data = b"git log x"
    assert agrees(parse(data), data, {0: (9, 3, None)})
    assert not agrees(parse(data), data, {0: (9, count, None)})


# fmt: off
FILE_PATTERNS = [
    "Read(.env)", "Read(*.pem)", "Read(//etc/**)", "Read(~/.ssh/**)", "Edit(src/part1/**)", "Edit(//**)",
    "Read(/src/**)", "Edit(.env)", "Read(secret*)", "Edit(//h/me/**)", "Read(src/*.py)", "Read(a=b)", "Read(-x)",
    "Read(x@y)", "Read(?env)", "Read(**/p/**)", "Edit(É)", "Read(n)",
]
file_words = st.sampled_from([
    ".env", "src/.env", "../.env", ".ENV", "~/.ssh/id", "/etc/x", "*.env", "[.]env", "--output=.env", "-o.env", "@.env",
    "-rn", "file://.env", "file:///etc/x", "if=.env", "of=a.pem", "k/a.PEM", "src/part1/x", "a=b", "x=a=b", "-x",
    "a/-x", "x@y", "secrets", "É", "p/../.env", "{.env,x}", "src", ".", "/", "~", "-i", "'a b'", "checkout", "n",
    "a" * 4100,
])
# fmt: on
file_commands = st.builds(
    lambda name, words: " ".join([name, *words]),
    st.sampled_from(["cat", "grep", "cp", "sed", "git", "cd", "pushd", "curl", "dd", "/bin/cat", "tar", "ls", "sort"]),
    st.lists(file_words, max_size=4),
)
file_lines = st.builds(
    lambda found, end: " && ".join(found) + end,
    st.lists(file_commands, min_size=1, max_size=3),
    st.sampled_from(["", "", " > .env", " < .env", " > out/x"]),
)


@pytest.mark.law("R1")
@given(
    st.lists(st.sampled_from(FILE_PATTERNS), min_size=1, max_size=4),
    file_lines,
    st.sampled_from(FOLDERS),
    st.booleans(),
)
@example(["Read(.env)"], "cat -n.env", "/h/me/p", False)
@example(["Read(//h/me/**)"], "cat x", "/h/me/p", False)
@example(["Edit(//etc/**)"], "cd /etc && cp a b", "/h", False)
@settings(max_examples=400)
def test_no_file_is_passed_over_that_a_rule_forbids(patterns: list[str], line: str, cwd: str, folds: bool) -> None:
    read = [read_pattern(pattern, "deny") for pattern in patterns]
    forms = [pattern.form for pattern in read if isinstance(pattern.form, Files)]
    tools = frozenset(tool for pattern in read for tool in pattern.tools)
    subject = replace(_at(line, cwd), case_folds=folds)
    script = read_script(line)

    def forbidden(marks: Marks) -> list[bool]:
        looks = [look_at(one) for one in files_named(subject, script, tools, marks)]
        return [any(forbids(pattern, look, "/h/me/p") for look in looks) for pattern in read]

    assert forbidden(Marks(forms)) == forbidden(Marks([read_files("Edit", "*")]))  # which every path may be


@pytest.mark.law("R1")
@given(subjects, st.lists(st.sampled_from(FILE_PATTERNS), max_size=2))
@example(_at("rm -rf src/*", "/h/me/p"), [])
@example(_at("rm -rf *", "/h/me"), [])
@example(_at("cat p/*.json", "/h/me/[.]claude"), [])
def test_the_names_of_a_line_only_spare_work(subject: Subject, patterns: list[str]) -> None:
    rules = [rule(f"deny {pattern}") for pattern in ["Bash(rm:*)", "Bash(git push:*)", *patterns]]
    book = Rulebook.of(rules)
    _, seen = book.look(subject)
    assert seen is not None
    names = seen.names if seen.mere else None
    ours = subject.our_home
    quickly = line_touches_us(subject, ours, seen.script, seen.telling, names)
    assert quickly == line_touches_us(subject, ours, seen.script, seen.telling)
    denied = any(forbids_command(one.pattern, seen, None) for one in book.bound)
    assert (book.verdict(subject, 0.0).effect == "deny") == denied
