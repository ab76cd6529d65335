"""Rules in a file: written as YAML, read back whole or not at all."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from quarterdeck.cli.common import cell, client, out, plainly
from quarterdeck.core.model.rule import MAX_RULES, Rule
from quarterdeck.core.rules.file_format import read_rules, write_rules
from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.errors import Refused

MAX_BYTES = 4 * 1024 * 1024
MOST_EFFECTS = 2 * MAX_RULES
"""Every entry has an effect; the word may stand in a note as well."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same, several times as fast where it is there
NO_VALUE = (ValueError, OverflowError, LookupError, AttributeError, TypeError)
"""What PyYAML raises for a value that is none of the kind it looks like, such as a day that is in no calendar."""

DEEPEST = 16
IMPORT_SECONDS = 120.0
HEAD = "# Rules of Quarterdeck. Read them back with: qd rules import FILE\n"


@plainly
def export_rules(
    output: Annotated[Path | None, typer.Option(help="Write here instead of stdout.", dir_okay=False)] = None,
) -> None:
    """Write all rules as YAML."""
    shown = client().get("/api/v1/rules")["rules"]
    kept = [Rule(**{name: rule[name] for name in Rule.__struct_fields__}) for rule in shown]
    text = yaml.safe_dump(write_rules(kept), sort_keys=False, allow_unicode=True)
    if UNSEEN.search(text):  # as escapes, which YAML reads back
        text = yaml.safe_dump(write_rules(kept), sort_keys=False, allow_unicode=False)
    text = HEAD + text
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
        out.print(cell(f"Wrote {len(kept)} rules to {output}."))


@plainly
def import_rules(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="YAML as `qd rules export` writes it; - for stdin.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the file and show what it would add.")] = False,
) -> None:
    """Add the rules of a file. One wrong entry, and nothing is added; what exists already stays as it is."""
    wanted = read_rules(_yaml(file))
    bodies = [
        {name: value for name in rule.__struct_fields__ if (value := getattr(rule, name)) is not None}
        for rule in wanted
    ]
    made = client(IMPORT_SECONDS).post("/api/v1/rules/import", {"rules": bodies, "is_trial": dry_run})
    for rule in made["rules"]:
        out.print(cell(f"{rule['effect']} {rule['pattern']} · {where(rule)}"))
    word = "would be added" if dry_run else "added"
    out.print(cell(f"{len(made['rules'])} {word}, {made['existed']} were there already."))
    if made["also_decided"]:
        out.print(cell(f"They settled {len(made['also_decided'])} waiting: {', '.join(made['also_decided'])}"))


def where(rule: dict[str, Any]) -> str:
    """Where a rule holds, in words."""
    if rule["scope"] == "project":
        return f"in {rule['scope_path']}"
    if rule["scope"] in ("session", "once"):
        held = f"session {rule['scope_id'][:8]}" if rule["scope_id"] else "any session"
        return held if rule["scope"] == "session" else f"{held}, once"
    return "everywhere" if rule["scope"] == "user" else "on the hub"


def _yaml(file: Path) -> Any:
    try:
        with sys.stdin.buffer if str(file) == "-" else file.open("rb") as source:
            content = source.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise Refused(f"{file}: larger than {MAX_BYTES} bytes")
        text = content.decode()
        if text.count("effect") > MOST_EFFECTS:  # to read so much takes long, only to refuse it
            raise Refused(f"{file}: has far more than {MAX_RULES} entries, and no more rules may be; leave some out")
        _check_depth(file, text)
        _check_keys(file, yaml.compose(text, Loader=_LOADER))
        return yaml.load(text, Loader=_LOADER)  # noqa: S506 - either one is safe
    except OSError as error:
        raise Refused(f"{file}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, RecursionError, *NO_VALUE) as error:
        raise Refused(f"{file}: is no YAML ({' '.join(str(error).split())[:200]})") from None


def _check_depth(file: Path, text: str) -> None:
    """The fast loader recurses in C, without an end that Python sees."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise Refused(f"{file}: is nested too deep for rules (line {event.start_mark.line + 1})")


def _check_keys(file: Path, root: yaml.Node | None) -> None:
    """Of a key that stands twice only the last would count, and a rule would be lost without a word."""
    nodes, looked = [root] if root else [], set[int]()  # an alias leads to what was looked at already
    for node in nodes:  # which grows
        if id(node) in looked:
            continue
        looked.add(id(node))
        if isinstance(node, yaml.MappingNode):
            names = Counter(
                key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"
            )
            if twice := [name for name, count in names.items() if count > 1]:
                line = node.start_mark.line + 1
                raise Refused(f"{file}: is no YAML ({twice[0]} is given twice in what begins at line {line})")
            nodes += (value for _, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value
