"""The packages of Quarterdeck, each with the first line of its docstring."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "quarterdeck"
COLUMN = 26
"""Where the signs begin."""


def tree_block() -> str:
    """The tree: packages with their signs, and the modules that are in no package."""
    return "\n".join(["```", "src/quarterdeck/", *_lines(SOURCE, 1), "```"])


def _lines(folder: Path, depth: int) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        if (path / "__init__.py").exists():
            yield _line(f"{path.name}/", path / "__init__.py", depth)
            yield from _lines(path, depth + 1)
        elif depth == 1 and path.suffix == ".py" and path.stem != "__init__":
            yield _line(path.name, path, depth)


def _line(name: str, file: Path, depth: int) -> str:
    """The docstring is read, not imported: most packages import nothing, and none should be run for a page."""
    sign = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    return f"{'  ' * depth + name:<{COLUMN}}{sign}"
