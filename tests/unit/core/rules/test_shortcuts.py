"""Shortcuts of the core give the same results as the plain, slow way."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.core.model.tool_use import ToolUse
from quarterdeck.core.patterns.command_paths import named_files
from quarterdeck.core.patterns.match import forbids, match_subject
from quarterdeck.core.patterns.path_patterns import PathPattern, read_path_pattern
from quarterdeck.core.patterns.path_prefilter import PathPrefilter
from quarterdeck.core.patterns.pattern import read_pattern
from quarterdeck.core.programs.interpreters import KNOWN_PROGRAMS, interprets, runs_or_writes
from quarterdeck.core.programs.risky_options import PROGRAMS
from quarterdeck.core.rules.command_rules import forbids_command
from quarterdeck.core.rules.rulebook import Rulebook
from quarterdeck.core.rules.self_protection import line_touches_quarterdeck, touches_quarterdeck
from quarterdeck.core.shell.fast_parser import read_fast, tree_confirms
from quarterdeck.core.shell.plain_forms import plainer
from quarterdeck.core.shell.plain_parser import command_spans, read_plain, unquote
from quarterdeck.core.shell.script import read_script
from quarterdeck.core.shell.tree_parser import parse, tree_agrees
from tests.support.examples import examples
from tests.support.reference_readers import commands_of_tree, known_tool, touches_protected, uses_risky_option
from tests.support.rulebook import rule
from tools.shell_fuzz import CHARACTERS, texts

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
OWN_HOMES = [
    "",
    "/h/me/.local/state/deck",
    "/h/me/.local/state/Deck/",
    "/deck",
    "/h/me/deck",
    "/q",
    "/h/me/.claude/deck",
]
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


def _shell_use(line: str, cwd: str, home: str = "/h/me", own_home: str = "/h/me/.local/state/deck") -> ToolUse:
    return ToolUse(
        tool_name="Bash", tool_input={"command": line}, session_id="s", cwd=cwd, home=home, quarterdeck_home=own_home
    )


tool_uses = st.builds(
    _shell_use,
    lines,
    st.sampled_from(FOLDERS),
    st.sampled_from(["/h/me", *FOLDERS]),
    st.sampled_from([OWN_HOMES[1], *OWN_HOMES]),
)


def _readable(tool_use: ToolUse) -> bool:
    script = read_script(tool_use.command)
    return bool(script.calls) and "cannot be parsed" not in script.doubts


@pytest.mark.law("R1")
@given(tool_uses.filter(_readable))
@example(_shell_use("cp a ../../settings.json", "/h/me/.claude/worktrees/x"))
@example(_shell_use("grep deck", "/", own_home="/deck"))
@example(_shell_use("cp a settings.json", "/h/me/.claude"))
@example(_shell_use("cp a b", "/h/me/.claude/plugins/x"))
@example(_shell_use("cd .claude && cp a settings.json", "/h/me/p"))
@example(_shell_use("cd .local/state && cat deck/token", "/h/me"))
@example(_shell_use("cd ~/.local/state && cd deck && cat token", "/h/me/p"))
@example(_shell_use("cat ~/token deck", "/srv", home="/h/me/.local/state/deck"))
@example(_shell_use("cat x/../../deck/token", "/h/me/.local/state/decks"))
@example(_shell_use("/bin/rm -rf /h", "/srv"))
@example(_shell_use("python3.12 -m quarterdeck allow", "/srv"))
@examples(4)
def test_the_guard_catches_everything_that_resolving_every_word_catches(tool_use: ToolUse) -> None:
    if touches_protected(tool_use):  # the guard also catches wildcards and searches, which the slow way does not
        assert touches_quarterdeck(tool_use, tool_use.quarterdeck_home) is not None


options = st.sampled_from(
    sorted({word for program in PROGRAMS.values() for word in program.words.split()})
) | st.builds(
    lambda sign, word, size, end: sign + word[:size] + end,
    st.sampled_from(["", "-", "--", "+"]),
    st.sampled_from(sorted({w for program in PROGRAMS.values() for w in program.longs.split()}))
    | st.text("abcdefoOxXsPn", max_size=4),
    st.integers(0, 20),
    st.sampled_from(["", "=", "=x"]),
)
# Programs whose options in the table tell everything: the others need more reading.
BY_TABLE = sorted(PROGRAMS.keys() - {"vim"})


programs = st.sampled_from(sorted({*KNOWN_PROGRAMS, "python3.12", "/usr/bin/perl", "ls"}))
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
@examples(8)
def test_an_option_that_is_risky_after_some_words_is_risky_at_all(name: str, rest: list[str], named_count: int) -> None:
    assert runs_or_writes((name, *rest), 0) or not runs_or_writes((name, *rest), named_count)


@pytest.mark.law("R2")
@given(programs, st.lists(arguments, max_size=5))
@examples(8)
def test_an_interpreter_of_a_text_runs_something(name: str, rest: list[str]) -> None:
    assert runs_or_writes((name, *rest), 0) or not interprets((name, *rest))


@pytest.mark.law("R2")
@given(st.sampled_from(BY_TABLE), st.lists(options, min_size=1, max_size=5), st.integers(1, 4))
@example("gpg", ["--out"], 1)
@example("locate", ["--database=x"], 1)
@example("ltrace", ["-zo"], 1)
@examples(4)
def test_every_option_in_the_table_is_found(name: str, rest: list[str], named_count: int) -> None:
    program = known_tool(name)
    assert program is not None
    assert runs_or_writes((name, *rest), named_count) == uses_risky_option(program, rest[named_count - 1 :])


texts_to_read = st.integers(0, 2**32).map(lambda seed: next(texts(seed)))
soup = st.lists(st.sampled_from([*CHARACTERS, " ", "a", "ls", " -l"]), max_size=30).map("".join)


@pytest.mark.law("R2")
@given(texts_to_read | soup | lines)
def test_the_plain_reader_and_the_tree_see_the_same_words_in_a_clear_text(text: str) -> None:
    if text.isascii() and not read_script(text).doubts and read_plain(text) is None:
        text = (plainer(text) or ("",))[0]  # one of the forms that are rewritten
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
@examples(4)
def test_the_fast_reader_gives_the_same_result_as_the_plain_one(text: str) -> None:
    fast = read_fast(text)
    if fast is not None:
        calls, plain = fast.calls, read_plain(text)
        assert plain is not None
        assert {start: span[0] for start, span in fast.spans.items()} == {one.start: one.end for one in plain}
        assert [(list(call.words), call.piped) for call in calls] == [(one.words, one.piped) for one in plain]
        assert [call.source for call in calls] == [text[one.start : max(one.end, one.redirected)] for one in plain]
        assert not any(one.may_expand_to_option or one.has_values or one.reads for one in plain)
        data = text.encode()
        assert tree_confirms(parse(data), fast) == tree_agrees(parse(data), data, command_spans(plain))


@pytest.mark.law("R2")
@pytest.mark.parametrize(
    "text", ["ls", "ls -la 'a b' 2>&1 | head -n 3", "git log --since='2 weeks' && cat src/a.py >/dev/null; wc -l"]
)
def test_the_fast_reader_reads_the_plainest_lines(text: str) -> None:
    assert read_fast(text) is not None


@pytest.mark.law("R2")
@pytest.mark.parametrize(
    ("read", "parsed"),
    [
        ("git log x", "git log-x"),  # the tree has one word less in the same span
        ("git log-x", "git log x"),
        ("git log x", "git-log-x"),
        ("ls a b && cat c d", "ls a-b && cat c d"),
        ("ls a b && cat c d", "ls a b && cat c-d"),
        ("ls 'a b' c", "ls  'a b'c"),  # a word with quotes has more nodes
        ("ls 'a b' c", "ls ab bc c"),
        ('ls "a b" c', "ls 'a b' c"),
        ("ls --x='a b'", "ls --x=a-b--"),
        ("ls --x='a b'", "ls x y z u v"),
        ("ls a && ls b", "ls a || ls b ; c"),  # not only the commands differ
        ("ls a 2>&1", "ls a 2>&1x"),
    ],
)
def test_a_tree_with_other_words_in_the_same_span_is_refused(read: str, parsed: str) -> None:
    fast = read_fast(read)
    assert fast is not None
    assert tree_confirms(parse(read.encode()), fast)
    assert not tree_confirms(parse(parsed.encode()), fast)


@pytest.mark.law("R2")
@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_fast_parse_with_another_number_of_words_than_the_tree_is_refused(count: int) -> None:
    data = b"git log x"
    assert tree_agrees(parse(data), data, {0: (9, 3, None)})
    assert not tree_agrees(parse(data), data, {0: (9, count, None)})


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
@examples(4)
def test_the_prefilter_rules_out_no_file_that_a_rule_forbids(
    patterns: list[str], line: str, cwd: str, folds: bool
) -> None:
    read = [read_pattern(pattern, "deny") for pattern in patterns]
    forms = [pattern.form for pattern in read if isinstance(pattern.form, PathPattern)]
    tools = frozenset(tool for pattern in read for tool in pattern.tools)
    tool_use = replace(_shell_use(line, cwd), case_folds=folds)
    script = read_script(line)

    def forbidden(prefilter: PathPrefilter) -> list[bool]:
        file_subjects = [match_subject(one) for one in named_files(tool_use, script, tools, prefilter)]
        return [any(forbids(pattern, file_subject, "/h/me/p") for file_subject in file_subjects) for pattern in read]

    assert forbidden(PathPrefilter(forms)) == forbidden(
        PathPrefilter([read_path_pattern("Edit", "*")])
    )  # a prefilter that rules out nothing


@pytest.mark.law("R1")
@given(tool_uses, st.lists(st.sampled_from(FILE_PATTERNS), max_size=2))
@example(_shell_use("rm -rf src/*", "/h/me/p"), [])
@example(_shell_use("rm -rf *", "/h/me"), [])
@example(_shell_use("cat p/*.json", "/h/me/[.]claude"), [])
def test_the_shortcut_by_command_names_changes_no_verdict(tool_use: ToolUse, patterns: list[str]) -> None:
    rules = [rule(f"deny {pattern}") for pattern in ["Bash(rm:*)", "Bash(git push:*)", *patterns]]
    book = Rulebook.of(rules)
    _, command = book.match_subjects(tool_use)
    assert command is not None
    names = command.names if command.plain_names else None
    own_home = tool_use.quarterdeck_home
    with_names = line_touches_quarterdeck(tool_use, own_home, command.script, command.indirect, names)
    assert with_names == line_touches_quarterdeck(tool_use, own_home, command.script, command.indirect)
    denied = any(forbids_command(one.pattern, command, None) for one in book.entries)
    assert (book.verdict(tool_use, 0.0).effect == "deny") == denied
