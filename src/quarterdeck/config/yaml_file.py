"""The settings in a YAML file, each with its line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

from quarterdeck.config.provenance import GivenValue, Problem, ValueSource, unknown_key
from quarterdeck.config.settings import Config

LIKE = "like 'decide:' with 'hold: auto' under it"
NULL = "tag:yaml.org,2002:null"


class ConfigFile:
    """One file: the values it sets, and problems with its form. It walks the nodes of the YAML itself: loading it in
    one call would lose the lines, and the first of two equal keys."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.values: list[GivenValue] = []
        self.problems: list[Problem] = []

    def read(self, *, required: bool) -> None:
        """Read the file. Only a required one may not be missing."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            if required:
                self._add_problem("there is no such file")
            return
        except (OSError, UnicodeDecodeError) as error:
            self._add_problem(f"cannot be read ({error})")
            return
        try:
            self._read_text(text)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            self._add_problem(f"is not YAML: {error.problem}", mark.line + 1 if mark else None)
        except (yaml.YAMLError, RecursionError) as error:
            self._add_problem(f"is not YAML: {str(error).splitlines()[0]}")

    def _read_text(self, text: str) -> None:
        loader = yaml.SafeLoader(text)
        try:
            root = loader.get_single_node()
            if isinstance(root, yaml.MappingNode):
                for section, line, node in self._pairs(loader, root, ""):
                    self._read_section(loader, section, line, node)
            elif root is not None and root.tag != NULL:
                self._add_problem(f"must hold sections with keys, {LIKE}", root.start_mark.line + 1)
        finally:
            loader.dispose()

    def _read_section(self, loader: yaml.SafeLoader, section: str, line: int, node: yaml.Node) -> None:
        if section not in Config.model_fields:
            self.problems.append(unknown_key(section, self._place(line)))
        elif isinstance(node, yaml.MappingNode):
            for key, at, value in self._pairs(loader, node, f"{section}."):
                self.values.append(GivenValue(key, loader.construct_document(value), self._place(at)))
        elif node.tag != NULL:
            self._add_problem(f"must hold keys, {LIKE}", line, section)

    def _pairs(
        self, loader: yaml.SafeLoader, node: yaml.MappingNode, prefix: str
    ) -> Iterator[tuple[str, int, yaml.Node]]:
        """Each key as it is written, its line and its value. A key given twice is a mistake, though YAML allows it."""
        first: dict[str, int] = {}
        for name, _ in node.value:
            line = name.start_mark.line + 1
            if first.setdefault(str(name.value), line) != line and name.value != "<<":
                self._add_problem(
                    f"is given twice; the first is in line {first[name.value]}", line, prefix + name.value
                )
        loader.flatten_mapping(node)
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode):
                yield prefix + name.value, name.start_mark.line + 1, value
            else:
                self._add_problem("a key must be a word", name.start_mark.line + 1)

    def _add_problem(self, message: str, line: int | None = None, key: str | None = None) -> None:
        self.problems.append(Problem(place=self._place(line), key=key, message=message))

    def _place(self, line: int | None) -> ValueSource:
        return ValueSource("file", str(self.path), line)
