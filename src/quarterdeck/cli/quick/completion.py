"""The words that may follow on a command line, one per line with what they mean.

The scripts of the shells call `qd __complete WORD… CURRENT`. A line that starts with a colon asks the shell for names
of files (`:files`) or folders (`:dirs`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from quarterdeck.cli.quick.command_index import CommandIndex, IndexedCommand, IndexedOption, read_index
from quarterdeck.cli.quick.root_help import ADDRESS_HELP, FILE_HELP

FROM_SHELL = ("files", "dirs")
Names = Callable[[str], Iterable[tuple[str, str]]]
"""The names of a kind, such as sessions, each with what it means."""
HELP_OPTION = IndexedOption(["-h", "--help"], "Show this message and exit.", None)
BEFORE_COMMANDS = (
    IndexedOption(["--url"], ADDRESS_HELP, ""),
    IndexedOption(["--token-file"], FILE_HELP, "files"),
    HELP_OPTION,
)
"""The options of `qd` itself, as `root_help` shows them."""


def completion_text(words: list[str]) -> str:
    """The lines for the words of a command line; the last word is the one that is being typed."""
    from quarterdeck.cli.quick.completion_names import names_of

    is_here = not any(word.partition("=")[0] == "--url" for word in words)
    command = words[0] if words else ""
    names = (lambda kind: names_of(kind, command)) if is_here else _no_names
    found = candidates(read_index(), words[:-1], words[-1] if words else "", names)
    return "".join(
        f"{_clean(word)}\t{_clean(meaning)}\n" if meaning else f"{_clean(word)}\n" for word, meaning in found
    )


def _no_names(_: str) -> list[tuple[str, str]]:
    """Another machine is not asked while you type."""
    return []


def _clean(text: str) -> str:
    """Text of an agent as one line without control characters, which a terminal would obey."""
    return "".join(char if char.isprintable() else " " for char in text)


def candidates(index: CommandIndex, words: list[str], current: str, names: Names) -> list[tuple[str, str]]:
    """The words that may stand for `current`, each with its meaning."""
    path, count, open_option = _place(index, words)
    if open_option is not None:
        return _starting(current, _values(open_option.values, names))
    options = _options(index, path)
    if current.startswith("-"):
        name, equals, value = current.partition("=")
        if equals and (option := options.get(name)) is not None:
            return [(f"{name}={word}", why) for word, why in _starting(value, _values(option.values, names))]
        return _starting(current, ((name, option.help) for name, option in options.items() if len(name) > 2))
    return _starting(current, _positional(index, path, count, names))


def _place(index: CommandIndex, words: list[str]) -> tuple[str, int, IndexedOption | None]:
    """The command that these words name, the number of its arguments among them, and the option that waits for its
    value."""
    path, count, options = "", 0, _options(index, "")
    rest = iter(words)
    for word in rest:
        if word.startswith("-"):
            option = options.get(word)
            if option is not None and option.values is not None and next(rest, None) is None:
                return path, count, option
        elif not count and f"{path} {word}".lstrip() in index.commands:
            path = f"{path} {word}".lstrip()
            options = _options(index, path)
        else:
            count += 1
    return path, count, None


def _options(index: CommandIndex, path: str) -> dict[str, IndexedOption]:
    command = index.commands.get(path)
    known = [*command.options, HELP_OPTION] if command else [*BEFORE_COMMANDS]
    return {name: option for option in known for name in option.names}


def _positional(index: CommandIndex, path: str, count: int, names: Names) -> Iterator[tuple[str, str]]:
    """The commands below, and the values of the next argument."""
    if path == "help":
        yield from _commands(index.below(""))
        return
    if not count:
        yield from _commands(index.below(path))
    arguments = index.commands[path].arguments if path else []
    for number, argument in enumerate(arguments):
        if number == count or (number < count and argument.many):
            yield from _values(argument.values, names)


def _commands(found: Iterable[IndexedCommand]) -> Iterator[tuple[str, str]]:
    yield from ((one.path.rpartition(" ")[2], one.summary) for one in found)


def _values(values: list[str] | str | None, names: Names) -> Iterable[tuple[str, str]]:
    if isinstance(values, list):
        return [(word, "") for word in values]
    if values in FROM_SHELL:
        return [(f":{values}", "")]
    return names(values) if values else []


def _starting(start: str, found: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(word, meaning) for word, meaning in found if word.startswith((start, ":"))]
