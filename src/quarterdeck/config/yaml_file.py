"""The settings of a YAML file, each with its line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

from quarterdeck.config.provenance import Given, Place, Problem, unknown
from quarterdeck.config.schema import Config

LIKE = "like 'decide:' with 'hold: auto' under it"
NULL = "tag:yaml.org,2002:null"


class SettingsFile:
    """One file read: what it gives, and what is wrong with its form."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.given: list[Given] = []
        self.problems: list[Problem] = []

    def read(self, *, required: bool) -> None:
        """Read it; a file that need not be there may be missing."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            if required:
                self._wrong("there is no such file")
            return
        except (OSError, UnicodeDecodeError) as error:
            self._wrong(f"cannot be read ({error})")
            return
        try:
            self._read_text(text)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            self._wrong(f"is not YAML: {error.problem}", mark.line + 1 if mark else None)
        except (yaml.YAMLError, RecursionError) as error:
            self._wrong(f"is not YAML: {str(error).splitlines()[0]}")

    def _read_text(self, text: str) -> None:
        loader = yaml.SafeLoader(text)
        try:
            root = loader.get_single_node()
            if isinstance(root, yaml.MappingNode):
                for section, line, node in self._pairs(loader, root, ""):
                    self._read_section(loader, section, line, node)
            elif root is not None and root.tag != NULL:
                self._wrong(f"must hold sections with keys, {LIKE}", root.start_mark.line + 1)
        finally:
            loader.dispose()

    def _read_section(self, loader: yaml.SafeLoader, section: str, line: int, node: yaml.Node) -> None:
        if section not in Config.model_fields:
            self.problems.append(unknown(section, self._place(line)))
        elif isinstance(node, yaml.MappingNode):
            for key, at, value in self._pairs(loader, node, f"{section}."):
                self.given.append(Given(key, loader.construct_document(value), self._place(at)))
        elif node.tag != NULL:
            self._wrong(f"must hold keys, {LIKE}", line, section)

    def _pairs(
        self, loader: yaml.SafeLoader, node: yaml.MappingNode, prefix: str
    ) -> Iterator[tuple[str, int, yaml.Node]]:
        """Each key as it is written, its line and its value; a key that stands twice is a slip of somebody."""
        first: dict[str, int] = {}
        for name, _ in node.value:
            line = name.start_mark.line + 1
            if first.setdefault(str(name.value), line) != line and name.value != "<<":
                self._wrong(f"is given twice; the first is in line {first[name.value]}", line, prefix + name.value)
        loader.flatten_mapping(node)
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode):
                yield prefix + name.value, name.start_mark.line + 1, value
            else:
                self._wrong("a key must be a word", name.start_mark.line + 1)

    def _wrong(self, says: str, line: int | None = None, key: str | None = None) -> None:
        self.problems.append(Problem(place=self._place(line), key=key, says=says))

    def _place(self, line: int | None) -> Place:
        return Place("file", str(self.path), line)
