"""Export rules to a YAML file, and import them, all or none."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import yaml
from msgspec.structs import asdict

from quarterdeck.cli.common import argument, cell, client, option, out
from quarterdeck.core.model.rule import MAX_RULES, Rule
from quarterdeck.core.rules.file_format import read_rules, write_rules
from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.errors import Refused
from quarterdeck.surfaces.terminal.forms.rule_form import rule_place

MAX_BYTES = 4 * 1024 * 1024
MOST_EFFECTS = 2 * MAX_RULES
"""Upper bound of the word "effect" in a valid file: once in every entry, and sometimes in a note."""

_LOADER = getattr(
    yaml, "CSafeLoader", yaml.SafeLoader
)  # the C loader is several times as fast, but not in every build of PyYAML
NO_VALUE = (ValueError, OverflowError, LookupError, AttributeError, TypeError)
"""Raised by PyYAML for a value that looks like a type but is invalid, such as the date 2026-02-31."""

DEEPEST = 16
IMPORT_SECONDS = 120.0
HEAD = "# Quarterdeck rules. Import them with: qd rules import FILE\n"


def export_rules(
    output: Annotated[Path | None, option("File to write (default: stdout).", dir_okay=False)] = None,
) -> None:
    """Export all rules as YAML."""
    shown = client().get("/api/v1/rules")["rules"]
    kept = [Rule(**{name: rule[name] for name in Rule.__struct_fields__}) for rule in shown]
    text = yaml.safe_dump(write_rules(kept), sort_keys=False, allow_unicode=True)
    if UNSEEN.search(text):  # write invisible characters as escapes, so that a reader of the file sees them
        text = yaml.safe_dump(write_rules(kept), sort_keys=False, allow_unicode=False)
    text = HEAD + text
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
        out.print(cell(f"Wrote {len(kept)} rules to {output}."))


def import_rules(
    file: Annotated[Path, argument("YAML file from `qd rules export`; - for stdin.", metavar="FILE")],
    dry_run: Annotated[bool, option("Check the file and show the rules it would add.", "--dry-run")] = False,
) -> None:
    """Import rules from a file. When an entry is invalid nothing is added; existing rules stay as they are."""
    specs = read_rules(_yaml(file))
    bodies = [{name: value for name, value in asdict(spec).items() if value is not None} for spec in specs]
    result = client(IMPORT_SECONDS).post("/api/v1/rules/import", {"rules": bodies, "is_trial": dry_run})
    for rule in result["rules"]:
        out.print(cell(f"{rule['effect']} {rule['pattern']} · {rule_place(rule, whole_path=True)}"))
    word = "would be added" if dry_run else "added"
    out.print(cell(f"{len(result['rules'])} {word}, {result['existed']} already existed."))
    if ids := result["also_decided"]:
        out.print(cell(f"They also decided {len(ids)} waiting: {', '.join(ids)}"))


def _yaml(file: Path) -> Any:
    try:
        with sys.stdin.buffer if str(file) == "-" else file.open("rb") as source:
            content = source.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise Refused(f"{file}: must not be larger than {MAX_BYTES} bytes")
        text = content.decode()
        if text.count("effect") > MOST_EFFECTS:  # parsing it would take long, only to refuse it afterwards
            raise Refused(f"{file}: has more than {MAX_RULES} entries, the maximum number of rules; remove some")
        _check_depth(file, text)
        _check_keys(file, yaml.compose(text, Loader=_LOADER))
        return yaml.load(text, Loader=_LOADER)  # noqa: S506 - either one is safe
    except OSError as error:
        raise Refused(f"{file}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, RecursionError, *NO_VALUE) as error:
        raise Refused(f"{file}: invalid YAML ({' '.join(str(error).split())[:200]})") from None


def _check_depth(file: Path, text: str) -> None:
    """Limit the nesting: the C loader recurses without Python's recursion limit and would crash."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise Refused(f"{file}: nested too deeply (line {event.start_mark.line + 1})")


def _check_keys(file: Path, root: yaml.Node | None) -> None:
    """Refuse repeated keys: YAML keeps only the last, so a rule would be lost silently."""
    nodes, visited = [root] if root else [], set[int]()  # an alias leads to a visited node again
    for node in nodes:  # grows during the loop
        if id(node) in visited:
            continue
        visited.add(id(node))
        if isinstance(node, yaml.MappingNode):
            names = Counter(
                key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"
            )
            if repeated := [name for name, count in names.items() if count > 1]:
                line = node.start_mark.line + 1
                raise Refused(f"{file}: invalid YAML ({repeated[0]} appears twice in the entry at line {line})")
            nodes += (value for _, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value
