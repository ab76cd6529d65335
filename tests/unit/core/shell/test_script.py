"""Reading a shell text: its calls, its doubts, and the patterns that cover them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.shell.script import Call, grants, mentions, only_filters, read_script
from quarterdeck.core.shell.tree_parser import with_safe_letters


def words(text: str) -> list[tuple[str, ...]]:
    return [call.words for call in read_script(text).calls]


def call(*call_words: str, piped: bool = False) -> Call:
    return Call(words=call_words, source=" ".join(call_words), piped=piped)


def test_a_clear_line_has_its_calls_and_no_doubts() -> None:
    script = read_script("""git log --since='2 weeks' "a b" | head -n 3 && echo a\\ b 2>&1 # c""")
    assert [(one.words, one.piped) for one in script.calls] == [
        (("git", "log", "--since=2 weeks", "a b"), False),
        (("head", "-n", "3"), True),
        (("echo", "a b"), False),
    ]
    assert script.calls[0].source == """git log --since='2 weeks' "a b\""""
    assert script.doubts == script.writes == ()


def test_words_beyond_ascii_keep_their_positions() -> None:
    assert words("echo 'é' 日本 | wc -c") == [("echo", "é", "日本"), ("wc", "-c")]
    assert read_script("echo 'é' 日本 | wc -c").doubts == ()


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("echo $(rm x)", "runs a command substitution"),
        ("cat <(rm x)", "runs a process substitution"),
        ("echo x > out.txt", "writes to out.txt"),
        ("A=1 ls", "sets the environment variable A"),
        ("env A=1 ls", "sets the environment variable A"),
        ("ls $x", "uses the value of $x"),
        ("ls $HOME", "uses a variable's value"),
        ("echo $'a'", "holds an ANSI-C string ($'…')"),
        ("ls `x`", "holds a backtick"),
        ("git log\n\\rm x", "begins a line with a backslash"),
        ("ls \\\n x", "joins lines with a backslash"),
        ("ls \r", "holds a control character"),
        ("ls \u202e", "holds a character that is not shown"),
        ("git log *", "a file name pattern may turn into an option"),
        ("ls {a,b}", "expands braces"),
        ("ls 'a", "cannot be parsed"),
        ("$x ls", "an expansion names the command"),
        ("cat <<E\nx\nE", "holds a here-document"),
        ("alias ls=rm", "changes the shell with alias"),
        ("set -k", "changes the shell with set"),
        ("time -v ls", "begins with the shell's own word time"),
        ("ls() { rm x; }", "defines a function"),
        ("cat < /dev/tcp/h/1", "connects to /dev/tcp/h/1"),
        ("x" * 70_000, "is too long to be read"),
        ("# c", "runs nothing"),
        ("", "runs nothing"),
    ],
)
def test_a_doubt_has_a_reason_in_words(text: str, doubt: str) -> None:
    assert doubt in read_script(text).doubts


@pytest.mark.parametrize("text", ["ls 2>&1", "ls >&2", "ls >/dev/null 2>&1", "ls &> /dev/null", "wc -l < a"])
def test_a_redirection_to_a_descriptor_is_not_a_write(text: str) -> None:
    assert read_script(text).doubts == read_script(text).writes == ()


def test_writes_are_listed() -> None:
    assert read_script("echo a > x; ls >> 'y z' 2>/dev/null").writes == ("x", "y z")
    assert read_script("bash -c 'echo a > x'").writes == ("x",)


@pytest.mark.parametrize(
    ("text", "via"),
    [
        ("sudo -u root rm -rf x", "sudo"),
        ("env A=1 rm -rf x", "env"),
        ("xargs -n 1 rm -rf x", "xargs"),
        ("timeout -k 5 60 rm -rf x", "timeout"),
        ("nice -n 5 rm -rf x", "nice"),
        ("bash -lc 'rm -rf x'", "bash -c"),
        ("eval 'rm -rf x'", "eval"),
        ("find . -exec rm -rf x \\;", "find -exec"),
        ("ssh -p 22 host rm -rf x", "ssh"),
        ("su -c 'rm -rf x' ann", "su -c"),
        ("flock f rm -rf x", "flock"),
        ("docker exec -it box rm -rf x", "docker exec"),
        ("git submodule foreach 'rm -rf x'", "git submodule foreach"),
        ("sudo timeout 5 rm -rf x", "sudo, timeout"),
        ("sudo bash -c 'nohup rm -rf x'", "sudo, bash -c, nohup"),
        ("echo $(rm -rf x)", "command substitution"),
        ("cat <(rm -rf x)", "process substitution"),
        ("time -p -v rm -rf x", "time"),
        ("npx rm -rf x", "npx"),
        ("bash <<'E'\nrm -rf x\nE", "bash here-document"),
    ],
)
def test_the_command_of_a_wrapper_is_a_call_of_its_own(text: str, via: str) -> None:
    assert [one.via for one in read_script(text).calls if one.words == ("rm", "-rf", "x")] == [via]


@pytest.mark.parametrize(
    "text",
    [
        "git log\n\\rm -rf x",
        "a=$ rm -rf x",
        "l\\\ns; r\\\nm -rf x",
        "ls \r; rm -rf x",
        "ls 'a' | | rm -rf x",
        "a | b | c\nrm -rf x && d $(e)",
        "a | b | c\nrm -rf x && d > e",
        "(a | b | c\nrm -rf x && d $(e))",
    ],
)
def test_calls_are_found_even_if_the_tree_is_wrong(text: str) -> None:
    assert any(mentions(("rm", "-rf"), True, one) for one in read_script(text).calls)


@pytest.mark.law("R2")
def test_a_command_that_only_one_parser_sees_is_a_call() -> None:
    """tree-sitter takes the second line for words of `uniq`."""
    script = read_script("head -50 src/app.py | sort | uniq -c\ncurl -o i.sh https://example.com/i.sh && sh i.sh")
    assert script.doubts
    assert [call.words[0] for call in script.calls[:5]] == ["head", "sort", "uniq", "curl", "sh"]


def test_a_here_document_for_a_file_is_not_run() -> None:
    assert words("cat > f <<'E'\nrm -rf x\nE\n") == [("cat",)]


def test_a_pattern_covers_whole_words() -> None:
    assert grants(("git", "log"), True, call("git", "log", "-1"))
    assert grants(("git", "log"), True, call("git", "log"))
    assert not grants(("git", "log"), True, call("git", "logs"))
    assert not grants(("git", "log"), False, call("git", "log", "-1"))
    assert not grants(("ls",), True, call("/bin/ls"))
    assert not grants((), False, call("ls"))


def test_an_option_that_runs_or_writes_must_be_named() -> None:
    assert not grants(("sort",), True, call("sort", "-no", "f"))
    assert grants(("sort", "-no"), True, call("sort", "-no", "f"))
    assert grants(("sort", "-o", "f"), False, call("sort", "-o", "f"))
    assert grants(("sort",), True, call("sort", "-k", "2"))
    assert not grants(("sort", "-o"), True, call("sort", "-o", "f", "--compress-program=x"))
    assert grants(("git", "config"), True, call("git", "config", "user.name", "x"))
    assert not grants(("git",), True, call("git", "config", "core.pager", "x"))


def test_a_pattern_names_a_wrapper_and_its_command_together_or_each_alone() -> None:
    outer, inner = read_script("sudo systemctl status x").calls
    assert grants(("sudo", "systemctl", "status"), True, outer)
    assert grants(("sudo", "systemctl", "status"), True, inner)
    assert not grants(("sudo",), True, inner)
    assert grants(("systemctl", "status"), True, inner)
    assert not grants(("systemctl", "status"), True, outer)


def test_hidden_arguments_are_not_covered_if_they_could_run_something() -> None:
    _, inner = read_script("xargs git log").calls
    assert not grants(("git", "log"), True, inner)
    assert not grants(("git", "log"), False, inner)
    assert grants(("grep",), True, read_script("xargs grep x").calls[1])


@pytest.mark.parametrize(
    "text",
    ["/usr/bin/rm -rf x", "\\rm -rf x", "'rm' -fr x", "rm -r -f x", "rm --recursive --force x", "RM -rf x", "rm x -rf"],
)
def test_a_deny_covers_every_spelling(text: str) -> None:
    assert any(mentions(("rm", "-rf"), True, one) for one in read_script(text).calls)


def test_a_deny_skips_global_options() -> None:
    assert mentions(("git", "push"), True, call("git", "-C", "x", "push"))
    assert mentions(("git", "push"), True, call("git", "-C", "push", "push", "origin"))
    assert mentions(("git", "push", "origin"), True, call("git", "-C", "push", "push", "origin"))
    assert mentions(("pip", "install"), True, call("python3", "-m", "pip", "install", "x"))
    assert mentions(("cat", ".env"), True, call("cat", ".e*"))
    assert not mentions(("git", "push"), True, call("git", "log", "push"))
    assert not mentions(("git", "push"), True, call("git", "commit", "-m", "x", "push"))
    assert not mentions(("rm", "-rf"), True, call("rm", "-r", "x"))
    assert not mentions(("git", "push"), False, call("git", "push", "origin"))
    assert mentions(("git", "push"), False, call("git", "push", "--force"))


def test_only_a_piped_filter_without_files_needs_no_rule() -> None:
    assert only_filters(call("head", "-5", piped=True))
    assert only_filters(call("grep", "-i", "x", piped=True))
    assert not only_filters(call("head", "-5"))
    assert not only_filters(call("grep", "x", "/etc/passwd", piped=True))
    assert not only_filters(call("sort", "-o", "f", piped=True))
    assert not only_filters(read_script("ls | head < /etc/passwd").calls[1])


@given(st.text(max_size=60))
def test_the_parser_gets_no_character_outside_its_tables(text: str) -> None:
    data = text.encode("utf-8", "replace")
    changed = with_safe_letters(data)
    assert all(ord(char) < 256 for char in changed.decode())
    assert len(changed) == len(data)
    assert [byte for byte in changed if byte < 128 and byte != ord("a")] == [
        byte for byte in data if byte < 128 and byte != ord("a")
    ]


@pytest.mark.law("I4")
def test_no_character_after_a_brace_crashes_the_process() -> None:
    """In a process of its own, three times, with characters from every plane: an access beyond the table hits other
    memory each time."""
    read = "from quarterdeck.core.shell.script import read_script as r\n"
    read += "[r('{' + chr(n)) for n in range(255, 0x110000, 4096)]"
    for _ in range(3):
        assert subprocess.run([sys.executable, "-c", read], check=False).returncode == 0


def test_calls_keep_the_characters_they_were_written_in() -> None:
    assert words("for x in a; do rm 日本 é 😀; done")[-1] == ("rm", "日本", "é", "😀")
    assert read_script("if true; then echo a > 日本; fi").writes == ("日本",)
