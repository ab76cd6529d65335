"""The values of a YAML text, each with its key and line. Problems are collected, so that all are named at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import yaml
from msgspec import Struct

from quarterdeck.core.text.sanitize import UNSEEN

NULL = "tag:yaml.org,2002:null"


class YamlValue(Struct, frozen=True):
    """A value with the key that leads to it."""

    key: str
    node: yaml.Node

    @property
    def line(self) -> int:
        return int(self.node.start_mark.line) + 1

    @property
    def is_empty(self) -> bool:
        return self.node.tag == NULL


class YamlProblems:
    """The problems of one file, as lines that name the file, the line, the key and what it must be."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.lines: list[str] = []

    def add(self, value: YamlValue | None, message: str, line: int | None = None) -> None:
        """Add a problem of a value, or of the whole file."""
        at = value.line if value is not None and line is None else line
        place = self._name if at is None else f"{self._name}:{at}"
        about = f"{value.key} {message}" if value is not None and value.key else message
        self.lines.append(f"{place}: {about}")

    def mapping(self, value: YamlValue, known: Sequence[str] | None = None) -> dict[str, YamlValue]:
        """The values of a mapping by their keys. With `known`, any other key is a problem."""
        found: dict[str, YamlValue] = {}
        if value.is_empty:
            return found
        if not isinstance(value.node, yaml.MappingNode):
            self.add(value, "must hold keys with values")
            return found
        for name, one in value.node.value:
            key = str(name.value) if isinstance(name, yaml.ScalarNode) else ""
            below = YamlValue(f"{value.key}.{key}" if value.key else key, one)
            if not key:
                self.add(below, "a key must be a word")
            elif known is not None and key not in known:
                self.add(below, f"is not known; one of {', '.join(known)}", int(name.start_mark.line) + 1)
            elif key in found:
                self.add(below, "is given twice", int(name.start_mark.line) + 1)
            else:
                found[key] = below
        return found

    def items(self, value: YamlValue) -> Iterator[YamlValue]:
        """The values of a list."""
        if isinstance(value.node, yaml.SequenceNode):
            for place, one in enumerate(value.node.value):
                yield YamlValue(f"{value.key}[{place}]", one)
        elif not value.is_empty:
            self.add(value, "must be a list")

    def text(self, value: YamlValue | None, *, most: int) -> str:
        """A text without characters that do not show; empty when there is none."""
        if value is None or value.is_empty:
            return ""
        if not isinstance(value.node, yaml.ScalarNode):
            self.add(value, "must be a text")
            return ""
        text = str(value.node.value)
        if hidden := UNSEEN.search(text):
            self.add(value, f"holds a character that does not show (U+{ord(hidden.group()):04X}); remove it")
        elif len(text) > most:
            self.add(value, f"may have {most:,} characters, has {len(text):,}")
        else:
            return text
        return ""

    def word(self, value: YamlValue | None, words: Sequence[str], default: str) -> str:
        """One of these words."""
        found = self.text(value, most=100)
        if not found:
            return default
        if found not in words:
            self.add(value, f"must be one of {', '.join(words)}, is {found}")
            return default
        return found


def root_of(text: str, problems: YamlProblems) -> YamlValue | None:
    """The root of a YAML text; None for an empty one, and for one that is not YAML. Aliases are refused: a few lines of
    those can stand for gigabytes."""
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            problems.add(None, "must not use aliases (*name)")
            return None
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        problems.add(None, f"is not YAML: {error.problem}", mark.line + 1 if mark else None)
        return None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        problems.add(None, f"is not YAML: {str(error).splitlines()[0]}")
        return None
    return None if node is None else YamlValue("", node)
