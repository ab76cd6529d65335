"""The settings written out: a commented config.yaml, and the schema by which an editor checks it."""

from __future__ import annotations

import json
from typing import Any

import yaml

from quarterdeck.config.settings import Config, sections

HEAD = """# yaml-language-server: $schema={schema}
#
# The settings of Quarterdeck. Every key is here with its default: remove the # from those you change.
# Variables come after this file (QUARTERDECK_DECIDE_HOLD for decide.hold), flags after variables.
# Secrets do not belong here: write each into a file of mode 0600, and name that file in a key that ends in _file.
# Show the settings in force with: qd config show. Check this file with: qd config check
"""


def template(schema: str) -> str:
    """A config.yaml in which nothing is set and everything is explained. `schema` is the path of its schema."""
    return HEAD.format(schema=schema) + "".join(_section(name) for name, _ in sections())


def _section(name: str) -> str:
    kind = dict(sections())[name]
    lines = ["", f"# {(kind.__doc__ or '').strip()}", f"{name}:"]
    for key, field in kind.model_fields.items():
        lines += [f"  # {field.description}", f"  #{key}: {yaml_text(field.default)}"]
    return "\n".join(lines) + "\n"


def yaml_text(value: Any) -> str:
    """A value on one line of YAML."""
    return yaml.safe_dump(value).splitlines()[0] if isinstance(value, str) else json.dumps(value)


def schema() -> dict[str, Any]:
    """The JSON schema of config.yaml. A section may be empty."""
    made = Config.model_json_schema()
    made["properties"] = {
        name: {"anyOf": [{"$ref": section["$ref"]}, {"type": "null"}]} for name, section in made["properties"].items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **made,
        "title": "Quarterdeck's config.yaml",
    }
