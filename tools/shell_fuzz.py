"""Random shell lines from a grammar, parsed by Quarterdeck and run by a real bash that can start nothing: Quarterdeck
must have seen every command that bash tries to start.

`python -m tools.shell_fuzz 100000 [seed]` prints every disagreement and exits with 1 when there is one.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

from quarterdeck.core.shell.script import Script, read_script

# fmt: off
NAMES = [
    'ls', 'git', 'rm', 'cat', 'echo', 'x', 'grep', 'xargs', 'sudo', 'env', 'bash', 'find', 'test', 'printf',
    'true',
]
PLAIN = [
    'a', 'log', '-n', '3', '--out=x', 'src/a.py', 'f.txt', '-', '--', 'a=b', '=', 'x:y', 'a,b', '@', '%', '+1',
    '^', '1',
]
ODD_WORDS = [
    '~', '~/x', '*', '*.py', 'src/*', '?', '[ab]', '[', ']', '{}', '{a,b}', '{1..3}', 'stash@{0}', '{', '}',
    '!', '!x', '#', '#c', 'a#b', '\\;', '\\ ', 'a\\ b', '\\*', '\\\\', "\\'", '\\"', '\\$x', '\\#', "''", '""',
    'in', 'do', 'done', 'then', 'time', 'coproc', 'if', 'fi', 'case', 'esac', 'function', 'select', '[[', ']]',
    'a[1]', 'a[1]=2', '-x=1', '~nobody', 'é', '日本', 'a\xa0b', '\u3000', '😀', '@(a)', 'a!b', '..', '%%', 'x-{y}',
    '{x}y', "'{a,b}'", "{'a',b}", 'a{,b}', '2',
]
VALUES = [
    '$HOME', '${HOME}', '"$HOME"', '$?', '"$?"', '"a $HOME b"', '$x', '${x}', '${x:-y}', '$1', '$@', '"$@"',
    '$', '"$"', '"a$"', 'a$', '$a$b', '${x@P}', '${!x}', '${#x}', "$'a'", '$"a"', '$((1))', '$[1]', '${x[1]}',
    "'$HOME'", '"\\$x"',
]
SUBSTITUTIONS = [
    '$(rm y)', '"$(rm y)"', '`rm y`', '"`rm y`"', '<(rm y)', '>(rm y)', "'$(rm y)'", "'`rm y`'", '"\\`rm y\\`"',
]
QUOTED = [
    "'a b'", '"a b"', "'a'b", 'a"b"c', '\'a\'"b"', '"it\'s"', '\'say "x"\'', '"a\\"b"', '"a\\\\"', "'a\\'",
    '"a;b"', "'|'", '"#"', "'a\nb'", '"a\nb"', "'&&'", '"a\\nb"', '"\'"', '\'"\'', '"a!b"', "'a'\\''b'",
    '"\\x"', "'\t'",
]
JOINS = [
    ' | ', ' || ', ' && ', '; ', ' & ', '\n', '|', '||', '&&', ';', '&', ' |& ', '|&', ' ;\n', '\n\n', ' | \n',
    ' &&\n',
]
ODD_JOINS = [
    ';;', '; ;', '|| |', '&&&', ' ; & ', ';&', '\n;', '\\\n', ' \\\n', '\n\\', '\n \\', '\r\n', '\r', '\x0b',
    '\x0c', ' \\ ',
]
REDIRECTS = [
    '2>&1', '>/dev/null', '> /dev/null', '2>/dev/null', '&>/dev/null', '>&2', '1>&2', '>>/dev/null',
    '&>> /dev/null',
]
ODD_REDIRECTS = [
    '> f', '>f', '>>f', '2>f', '<f', '< f', '<<<x', '<<E', '<>f', '>|f', '>&f', '&>f', '{fd}>/dev/null',
    '10>&1', 'a2>&1', '2>&1x', '>&-', '<&-', '2>&1-', '>/dev/nullx', "<'f'", '3>&1', "'2'>&1", '2>& 1', '<&0',
    '2 >&1', '>/dev/null;', '<(x)', '{x}<f', '<-', '0<f', '1<f', '>&1>/dev/null', '2>&1&', '2>&1|', '2>&1#',
    '>/dev/null#',
]
DOCUMENTS = [
    '<<E\nrm y\nE\n', "<<'E'\nrm y\n$(rm z)\nE\n", '<<E\n$(rm y)\nE\n', '<<-E\n\trm y\n\tE\n',
    '<<E\n`rm y`\nE\n',
]
CHARACTERS = [
    ' ', '\t', '\n', "'", '"', '\\', '|', '&', ';', '(', ')', '<', '>', '{', '}', '[', ']', '!', '#', '$', '`',
    '*', '?', '~', '=', '-', '/', '.', ',', ':', '@', '%', '^', '+', '0', '1', '9', 'a', 'Z', 'é', '\xa0', '\r',
    '\x0b', '\x00', '\u200b', '\\\n',
]
FRAMES = [
    '( {} )', '({})', '{{ {}; }}', '{{ {}\n}}', '! {}', '!{}', '! ! {}', 'time {}', 'coproc {}',
    'if true; then {}; fi', 'for i in a; do {}; done', 'while {}; do x; done', 'x() {{ {}; }}',
    'function x {{ {}; }}', 'case a in a) {};; esac', 'A=1 {}', 'A= {}', 'eval {}', "eval '{}'", '(( {} ))',
    '[[ {} ]]', '( ({}) )', '(({}))', '{} # c', '# c\n{}', '{}#c', "bash -c '{}'", 'sudo {}', 'env {}',
    'env A=1 {}', 'command {}', 'exec {}', 'builtin {}', '> /dev/null {}', '2>&1 {}', '{{ {} }}', '{}\n',
    '\n{}', ' {}', '{} ', '\t{}', '{};', '{} &', 'a=$ {}', 'a[$(x)]=1 {}', '\\{}', "'{}'",
    'until {}; do x; done', '$x {}', '{{ ({}) }}', '({}; )', '({}\n)', '!\n{}', '( ! {} )', '{} | ! x',
    '{} | ( x )', '{} | {{ x; }}', '-- {}', '{{ {}; }} | x',
]
# fmt: on


def texts(seed: int) -> Iterator[str]:
    """Random lines without end, the same for the same seed."""
    chance = random.Random(seed)
    while True:
        text = _line(chance, 3)
        for _ in range(chance.choice((0, 0, 0, 1, 1, 2, 4))):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice([*CHARACTERS, ""]) + text[at + chance.choice((0, 0, 1)) :]
        yield text


def _line(chance: random.Random, depth: int) -> str:
    parts = [_command(chance, depth)]
    for _ in range(chance.choice((0, 0, 1, 1, 2, 3, 5))):
        joins = ODD_JOINS if chance.random() < 0.06 else JOINS
        parts += [chance.choice(joins), _command(chance, depth)]
    return "".join(parts)


def _command(chance: random.Random, depth: int) -> str:
    if depth and chance.random() < 0.18:
        return chance.choice(FRAMES).format(_line(chance, depth - 1))
    words = [chance.choice(NAMES) if chance.random() < 0.93 else _word(chance)]
    words += [_word(chance) for _ in range(chance.choice((0, 1, 1, 2, 3)))]
    if chance.random() < 0.2:
        words.append(chance.choice(ODD_REDIRECTS if chance.random() < 0.3 else REDIRECTS))
        words += [_word(chance)] * chance.choice((0, 0, 1))
    if chance.random() < 0.03:
        words.append(chance.choice(DOCUMENTS))
    return chance.choice((" ", " ", " ", "  ", "\t")).join(words)


def _word(chance: random.Random) -> str:
    roll = chance.random()
    pool = PLAIN if roll < 0.5 else QUOTED if roll < 0.75 else ODD_WORDS if roll < 0.9 else VALUES
    if roll > 0.98:
        pool = SUBSTITUTIONS
    word = chance.choice(pool)
    return word + _word(chance) if chance.random() < 0.1 else word


# All builtins except two are off and no program can be found; bash records every command that it tries to start.
BASH = r"""
PATH=/nonexistent HOME=/h USER=u LOGNAME=u LANG=C.UTF-8 SHELL=/s HOSTNAME=m
command_not_found_handle() {
  enable printf return
  IFS=$'\x1f'; line="$number$IFS$*"; printf '%s\n' "${line//$'\n'/$'\x02'}" >> "$record"
  return "$status"
}
mapfile -d '' -t texts < "$1"
record=$2
off=($(compgen -b)); keep=' eval enable '
for name in "${off[@]}"; do [[ $keep == *" $name "* ]] || builtins+=("$name"); done
declare -r record
for ((number = 0; number < ${#texts[@]}; number++)); do
  for status in 0 1; do
    ( trap - EXIT; enable -n "${builtins[@]}"; eval "${texts[number]}"; enable wait; wait ) < /dev/null > /dev/null 2>&1
  done
done
"""


def tried_by_bash(scripts: list[str]) -> list[list[tuple[str, ...]]]:
    """The words of every command that a real bash tried to start, for each line. Fails if a line left a file behind."""
    with tempfile.TemporaryDirectory(prefix="qd-shell-") as folder:
        empty = Path(folder, "empty")
        empty.mkdir()
        record = Path(folder, "record")
        record.touch()
        Path(folder, "texts").write_bytes(b"".join(text.encode() + b"\0" for text in scripts))
        subprocess.run(
            ["timeout", "900", "bash", "--norc", "--noprofile", "-c", BASH, "bash", f"{folder}/texts", str(record)],
            cwd=empty,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        leftovers = [path.name for path in empty.iterdir()]
        assert not leftovers, f"a clear line wrote {leftovers}"
        return _records(record.read_bytes(), len(scripts))


def _records(data: bytes, count: int) -> list[list[tuple[str, ...]]]:
    tried: list[list[tuple[str, ...]]] = [[] for _ in range(count)]
    for line in data.decode("utf-8", "replace").split("\n")[:-1]:
        number, *words = line.replace("\x02", "\n").split("\x1f")
        tried[int(number)].append(tuple(words))
    return tried


def covered(script: Script, words: tuple[str, ...]) -> bool:
    """True if one of the parsed calls has these words, after values, home folders and globs are expanded."""
    return any(_becomes(call.words, words) for call in script.calls)


def _becomes(parsed: tuple[str, ...], real: tuple[str, ...]) -> bool:
    """A glob may become several words, each of which matches it."""
    if not parsed or not real:
        return not parsed and not real
    if _same(parsed[0], real[0]):
        return _becomes(parsed[1:], real[1:])
    fitting = 0
    while fitting < len(real) and re.search(r"[*?[]", parsed[0]) and fnmatch(real[fitting], parsed[0]):
        fitting += 1
    return any(_becomes(parsed[1:], real[count:]) for count in range(1, fitting + 1))


_VALUE = re.compile(r"\$(?:\?|\{?[A-Z]+\}?|\{\?\})")


def _same(parsed: str, real: str) -> bool:
    if parsed == real or (parsed[:1] == "~" and "/h" + parsed[1:] == real):
        return True
    if "$" not in parsed:
        return False
    pattern = "".join(re.escape(part) + ".*" for part in _VALUE.split(parsed))
    return re.fullmatch(pattern, real, re.DOTALL) is not None


def disagreements(candidates: Iterable[str]) -> tuple[int, list[str]]:
    """The number of lines that were clear and run, and the commands in them that the parser had not seen."""
    clear = [(text, script) for text in candidates if not (script := read_script(text)).doubts]
    problems = []
    for (text, script), tried in zip(clear, tried_by_bash([text for text, _ in clear]), strict=True):
        missed = [words for words in tried if not covered(script, words)]
        if missed:
            problems.append(f"{text!r}\n  bash ran {missed}\n  parsed   {[call.words for call in script.calls]}")
    return len(clear), problems


def main() -> None:
    goal = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    source = texts(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    generated = clear_total = problem_count = 0
    while generated < goal:
        batch = [next(source) for _ in range(min(4000, goal - generated))]
        generated += len(batch)
        clear_count, problems = disagreements(batch)
        clear_total += clear_count
        problem_count += len(problems)
        for story in problems:
            print(story)
        print(f"{generated} texts, {clear_total} clear and run by bash, {problem_count} disagreements", flush=True)
    sys.exit(1 if problem_count else 0)


if __name__ == "__main__":
    main()
