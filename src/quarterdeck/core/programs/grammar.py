"""The grammar of a program: its subcommands, its options with their values, and the effects of each.

Grammars are text, one row per command, in the modules of `tables`. A row has four fields, separated by ` · `:

    git push|git send-pack · send · - · -u --force --repo=!s --receive-pack=!x

1. The command, and others that are described by the same row. `*` is any word, `describe-*` any that begins so, and
   `**` any number of words.
2. The effects of every use: `write project fetch send program operand outside secret`. For a program with subcommands
   these are its column: what a rule that names only the program covers. `inherit`: options of the program may follow
   the subcommand. `dash`: a long option may have one dash or two. `exact`: options are whole words. `stop`: the words
   after the first operand belong to another program, `stop2`: those after the second. `open`: a word that is no
   subcommand is an operand. `each`: the command acts on each operand alone, so that a rule that names one covers no
   other; `each2`: on each after the first, which says what they are.
3. The operands: `-` for any text, `>` for files that are written (`>first`, `>second`: only that one), `@` for code
   that is run, `:name` for a check in `checks`, `?` if none is known. `!x` is the effect that they have in general: a
   rule that names none covers them, and a rule that names one covers no other.
4. The options: `-q` alone, `-n=` with a value, `-n==` with two (`-n==:name` judges the second), `--color=?` with a
   value only behind an equals sign. The value may be a file that is written (`=>`), code or configuration (`=@`), a
   command up to a semicolon (`=;`), or judged by a check (`=:name`). `!x` is an effect: w(rite), o(utside), p(roject),
   x (a program), r (what an operand names), f(etch), s(end), c(redentials), m(ore operands). `-#` is a number, `-*`
   and `--*` any other option, and `@name` a shared set of options. After `--`, if it is listed, the words are for the
   project's own code, or judged by a check (`--=:name`).

A row that begins with a blank continues the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

WRITE, OUTSIDE, PROJECT, PROGRAM, FETCH, SEND, SECRET, UNKNOWN, NAMED, OPERAND, MORE = (1 << n for n in range(11))
"""Effects, as bits of a number: a set of them is compared for every command of every line.

Writes in the project; writes elsewhere; runs the project's own code; runs a program or configuration that the line
names; fetches; sends or changes something elsewhere; touches credentials; has a word that the grammar does not know;
writes a file that the line names; runs or installs what an operand names (`npx eslint`, `pip install x`), apart from
PROGRAM so that a rule for the operand does not cover an option that runs something else; acts on more operands than
one, of which a rule that names one covers no other."""


def word_set(words: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(words.split())


Effects = int
NEVER_IMPLIED = OUTSIDE | PROGRAM | OPERAND | SECRET | UNKNOWN
"""Effects that a rule covers only if it names the words that have them."""

EFFECT_WORDS: Mapping[Effects, str] = {
    WRITE: "writes in the project",
    OUTSIDE: "writes outside the project",
    PROJECT: "runs the project's own code",
    PROGRAM: "runs a program or configuration that the line names",
    OPERAND: "runs or installs what its operands name",
    FETCH: "fetches from the network",
    SEND: "sends or changes something elsewhere",
    SECRET: "touches credentials",
    UNKNOWN: "has words that Quarterdeck does not know",
    MORE: "is more than the rule names",
}

_WORDS = {
    "write": WRITE,
    "outside": OUTSIDE,
    "project": PROJECT,
    "program": PROGRAM,
    "operand": OPERAND,
    "fetch": FETCH,
    "send": SEND,
    "secret": SECRET,
}
_LETTERS = {
    "w": WRITE,
    "o": OUTSIDE,
    "p": PROJECT,
    "x": PROGRAM,
    "f": FETCH,
    "s": SEND,
    "c": SECRET,
    "r": OPERAND,
    "m": MORE,
}
_FLAGS = frozenset(("inherit", "dash", "exact", "stop", "stop2", "open", "each", "each2"))
_OWN_FLAGS = frozenset(("stop", "stop2", "each", "each2"))
"""Flags that a subcommand does not get from its program."""


class Option(Struct, frozen=True, gc=False):
    """An option: how many values it takes, and its effects. `value`: how the value is judged, or empty. `attached`: the
    value only follows an equals sign, or the letter."""

    takes: int = 0
    attached: bool = False
    effects: Effects = 0
    value: str = ""

    @property
    def harmless(self) -> bool:
        return not self.effects and not self.value


class Command:
    """A program or subcommand. Mutable only while its table is read."""

    def __init__(self, path: tuple[str, ...]) -> None:
        self.path = path
        self.effects: Effects = 0
        self.flags: frozenset[str] = frozenset()
        self.operands = "-"
        self.operand_effects: Effects = 0
        self.options: dict[str, Option] = {}
        self.subcommands: dict[str, Command] = {}
        self.safe: frozenset[str] = frozenset()
        """Harmless options as whole words, whether they take a value or not."""
        self.alone: frozenset[str] = frozenset()
        """Those that take none."""
        self.valued: frozenset[str] = frozenset()
        """Those whose value is the next word."""
        self.inside: dict[str, bool] = {}
        """Those whose value may not lead out of the project: true if it is the next word."""
        self.each = 0
        """The number of operands that a rule must name to cover no other; 0 if it always covers others."""
        self.plain_operands = True
        """No operand has an effect. Then a word may be taken for an operand that is an option's value."""

    def subcommand(self, word: str) -> Command | None:
        """The subcommand of this name."""
        found = self.subcommands.get(word)
        if found is None and self.subcommands:
            beginning, dash, _ = word.partition("-")
            found = self.subcommands.get(f"{beginning}-*") if dash else None
            found = found or self.subcommands.get("*") or self.subcommands.get("**")
        return found

    def leaves(self) -> Iterator[Command]:
        """Yield the commands below that have no subcommands."""
        if not self.subcommands:
            yield self
        for word, command in self.subcommands.items():
            if word != "**":
                yield from command.leaves()


def read_rows(text: str, shared: Mapping[str, str]) -> dict[str, list[tuple[str, ...]]]:
    """The rows of a table by program, not yet read: most programs never occur in a session."""
    rows: dict[str, list[tuple[str, ...]]] = {}
    for line in text.strip().replace("\n ", " ").split("\n"):
        if not line or line[0] == "#":
            continue
        head, _, rest = line.partition(" · ")
        fields = tuple(rest.split(" · "))
        if len(fields) != len(("effects", "operands", "options")):
            raise ValueError(f"a row of a grammar needs four fields: {line[:80]}")
        effects, operands, options = fields
        if "@" in options:
            options = " ".join(shared.get(word[1:], word) if word[0] == "@" else word for word in options.split())
        for path in head.split("|"):
            rows.setdefault(path.strip().partition(" ")[0], []).append((path.strip(), effects, operands, options))
    return rows


def read_command(rows: list[tuple[str, ...]]) -> Command:
    """The grammar of a program from its rows, the shorter paths first."""
    root = Command((rows[0][0].partition(" ")[0],))
    for path, effects, operands, options in sorted(rows, key=lambda row: row[0].count(" ")):
        command = _made(root, path.split()[1:])
        words = effects.split()
        command.flags = frozenset(words) & _FLAGS | (root.flags - _OWN_FLAGS)
        for word in words:
            if word not in _FLAGS and word != "read":
                command.effects |= _WORDS[word]
        kind, _, letters = operands.strip().partition("!")
        command.operands = kind or "!"
        command.operand_effects = _letters(letters)
        for token in options.split():
            name, option = _option(token)
            command.options[name] = option
        if command is not root and "inherit" in root.flags:
            command.options = {**root.options, **command.options}
        if command.effects & PROJECT:
            _keep_inside(command)
        _finish(command)
    _share_wildcards(root)
    return root


_TEXT_OPTIONS = word_set(
    "-k -t -g -m -e -n -s -D -run -bench -skip -list -X -l -R -L --grep --fgrep --testNamePattern --filter --tests "
    "--keywords --example --example-matches --name --plain-name --message --title --deselect --ignore --ignore-glob "
    "--test-name-pattern --include --exclude --omit --ignore-pattern --collectCoverageFrom --testPathIgnorePatterns "
    "--testMatch --testRegex --build-arg --env --only --user --workdir -w -u --base"
)
"""Options whose value is a text or a pattern, which may look like a path."""


def _keep_inside(command: Command) -> None:
    """Judge the values of harmless options of a command that runs the project's code: one may name a file elsewhere
    that the table does not tell of."""
    for name, option in command.options.items():
        if (option.takes == 1 or option.attached) and option.harmless and name not in _TEXT_OPTIONS:
            command.options[name] = Option(option.takes, option.attached, 0, ":inside")


def _share_wildcards(root: Command) -> None:
    """Give a group that is listed by its name what is listed for any group beside it."""
    for wildcard in ("*", "**"):
        general = root.subcommands.get(wildcard)
        if general is None:
            continue
        for group in [group for word, group in root.subcommands.items() if "*" not in word and group.subcommands]:
            for word, command in general.subcommands.items():
                group.subcommands.setdefault(word, command)


def _made(root: Command, path: list[str]) -> Command:
    command = root
    for word in path:
        if word not in command.subcommands:
            made = command.subcommands[word] = Command((*command.path, word))
            if word == "**":
                made.subcommands["**"] = made
            made.flags = root.flags - _OWN_FLAGS
            made.options = dict(root.options) if "inherit" in root.flags else {}
            _finish(made)
        command = command.subcommands[word]
    return command


def _finish(command: Command) -> None:
    harmless = [name for name, option in command.options.items() if option.harmless]
    command.safe = frozenset(harmless)
    command.alone = frozenset(name for name in harmless if not command.options[name].takes and name != "--")
    command.valued = frozenset(
        name for name in harmless if command.options[name].takes == 1 and not command.options[name].attached
    )
    command.inside = {
        name: not option.attached for name, option in command.options.items() if option.value == ":inside"
    }
    command.each = 1 if "each" in command.flags else 2 if "each2" in command.flags else 0
    command.plain_operands = command.operands in ("-", ":diff") and _OWN_FLAGS.isdisjoint(command.flags)


def _option(token: str) -> tuple[str, Option]:
    token, _, letters = token.partition("!")
    name, equals, value = token.partition("=")
    attached = value[:1] == "?"
    takes = 0 if not equals else 2 if value[:1] == "=" else 1
    return name, Option(takes, attached, _letters(letters), value.removeprefix("=").removeprefix("?"))


def _letters(letters: str) -> Effects:
    effects = 0
    for letter in letters:
        effects |= _LETTERS[letter]
    return effects
