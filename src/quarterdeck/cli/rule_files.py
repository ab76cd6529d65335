"""Rules in a file: written as YAML, read back whole or not at all."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from quarterdeck.cli.common import cell, client, out, plainly
from quarterdeck.core.rule import MAX_RULES, Rule
from quarterdeck.core.rule_files import read_rules, write_rules
from quarterdeck.core.text import UNSEEN
from quarterdeck.errors import Refused

MAX_BYTES = 4 * 1024 * 1024
MOST_EFFECTS = 2 * MAX_RULES
"""Every entry has an effect; the word may stand in a note as well."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same, several times as fast where it is there
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
    asked = client()
    known = {_key(rule) for rule in asked.get("/api/v1/rules")["rules"]}
    bodies = [
        {name: value for name in rule.__struct_fields__ if (value := getattr(rule, name)) is not None}
        for rule in wanted
    ]
    new = [body for body in bodies if _key(body) not in known]
    if len(known) + len(new) > MAX_RULES:
        raise Refused(
            f"{file}: {len(known)} rules exist, and with {len(new)} more there would be over {MAX_RULES}; "
            "remove some first, or leave some out"
        )
    for body in new:
        out.print(cell(f"{body['effect']} {body['pattern']} · {body['scope']}"))
        if not dry_run:
            asked.post("/api/v1/rules", body)
    word = "would be added" if dry_run else "added"
    out.print(cell(f"{len(new)} {word}, {len(bodies) - len(new)} were there already."))


def _key(rule: dict[str, Any]) -> tuple[Any, ...]:
    place = rule.get("scope_path") if rule["scope"] == "project" else rule.get("scope_id")
    return rule["effect"], rule["pattern"], rule["scope"], place


def _yaml(file: Path) -> Any:
    try:
        with sys.stdin if str(file) == "-" else file.open(encoding="utf-8") as source:
            text = source.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise Refused(f"{file}: larger than {MAX_BYTES} bytes")
        if text.count("effect") > MOST_EFFECTS:  # to read so much takes long, only to refuse it
            raise Refused(f"{file}: has far more than {MAX_RULES} entries, and no more rules may be; leave some out")
        return yaml.load(text, Loader=_LOADER)  # noqa: S506 - either one is safe
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(f"{file}: is no YAML ({' '.join(str(error).split())[:200]})") from None
    except OSError as error:
        raise Refused(f"{file}: cannot be read ({error.strerror})") from None
