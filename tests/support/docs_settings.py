"""The page of settings, made from their tree."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from quarterdeck.config.schema import Section, sections
from quarterdeck.config.template import yaml_text

HEAD = """# Settings

One tree, read in this order, the last to speak being heard: `config.yaml` in the home folder (or `--config FILE`), then
`QUARTERDECK_SECTION_KEY` in the environment (`QUARTERDECK_PORT` for short), then flags. The working directory is never
read, and a path in a setting starts at the root or with `~`. The daemon reads them when it starts.

```
qd config init     # writes a config.yaml that names every key with its default, and a schema for editors beside it
qd config show     # every setting in force, and the line, variable or flag that it comes from
qd config check    # everything that is wrong, with its line and the key that was meant; exit 1 if anything is
qd config schema   # the JSON schema of the file
```

- A key that is not known, stands twice or has a value it cannot have stops the start; the error names the line, the
  key, the problem and the nearest known key. A variable that is almost the name of a setting is refused as well.
- In a variable a list is written with commas, `none` takes back what the file says where there can be none, and an
  empty variable says nothing.
- Secrets stand in files of their own, of mode 0600, which a key that ends in `_file` names. One that is written into
  the file or a variable itself is refused, and not repeated. `notify.webhook_url` and `notify.push_url` may be secrets
  themselves: of them `qd config show` tells the host alone, and the record too.
- `qd config show` tells the file and the flags with which the daemon that runs was started, and the variables of this
  shell.
- `qd config check FILE` looks at that file alone; without it, at the file and variables of this shell. It also tells
  what a start would stumble over: a certificate or secret that cannot be read, settings that disagree.
- Each setting that differs from its default is on record as a `setting.change` when the daemon starts with it.
"""


def settings_page() -> str:
    return HEAD + "".join(_section(name, kind) for name, kind in sections())


def _section(name: str, kind: type[Section]) -> str:
    rows = [
        f"\n## {name}\n",
        (kind.__doc__ or "").strip(),
        "",
        "| key | values | default | meaning |",
        "| --- | --- | --- | --- |",
    ]
    for key, field in kind.model_fields.items():
        values = _values(field.annotation)
        rows.append(f"| `{name}.{key}` | {values} | `{yaml_text(field.default)}` | {field.description} |")
    return "\n".join(rows) + "\n"


def _values(kind: Any) -> str:
    """What may stand there, in words."""
    if get_origin(kind) is Literal:
        return ", ".join(f"`{word}`" for word in get_args(kind))
    inner = [one for one in get_args(kind) if one is not type(None)]
    if get_origin(kind) is list:
        return f"a list: {_values(inner[0])}"
    if inner:
        return _values(inner[0])
    return {str: "text", int: "a whole number", float: "a number", bool: "true, false"}[kind]
