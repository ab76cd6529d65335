"""The file of the Runbook prototype as a `deck.yaml`: its names are others, and some keys move."""

from __future__ import annotations

from typing import Any

import yaml
from msgspec import Struct

from quarterdeck.config.deck.deck_file import DeckReading, read_deck
from quarterdeck.config.deck.yaml_nodes import YamlProblems, root_of

ACTIONS = {
    "approve": "allow",
    "accept": "allow",
    "yes": "allow",
    "reject": "deny",
    "no": "deny",
    "escape": "esc",
    "cancel": "esc",
    "ctrl-c": "ctrl_c",
    "stop": "interrupt",
}
"""Actions of gates that have another name here."""
PROMPT_FIELDS = {"arm_style": "style"}


class ImportedDeck(Struct, frozen=True):
    """The text of a deck.yaml, and how it reads."""

    text: str
    reading: DeckReading


def import_runbook(text: str, name: str) -> ImportedDeck:
    """Convert a file of the prototype, or take one of Quarterdeck as it is."""
    problems = YamlProblems(name)
    root = root_of(text, problems)
    if root is None:
        return ImportedDeck("", DeckReading(None, problems.lines or [f"{name}: is empty"]))
    known = read_deck(text, name)
    if known.layout is not None:
        return ImportedDeck(text, known)
    try:
        loaded = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        return ImportedDeck("", DeckReading(None, [f"{name}: {str(error).splitlines()[0]}"]))
    if not isinstance(loaded, dict):
        return ImportedDeck("", DeckReading(None, [f"{name}: must hold pages and prompts"]))
    made = yaml.safe_dump(_converted(loaded), sort_keys=False, allow_unicode=True)
    return ImportedDeck(made, read_deck(made, name))


def _converted(loaded: dict[str, Any]) -> dict[str, Any]:
    defaults = _dict(loaded.get("defaults"))
    style = defaults.get("arm_style", defaults.get("style"))
    esc = loaded.get("esc_when_pending", defaults.get("esc_when_pending"))
    made = {
        "pages": [_page(page) for page in _list(loaded.get("pages"))],
        "prompts": {name: _prompt(one) for name, one in _named(loaded.get("prompts")).items()},
        "gates": {name: _gate(one) for name, one in _named(loaded.get("gates")).items()},
        "dial": {"mode": _dict(loaded.get("dial")).get("mode")},
        "defaults": {"style": style, "esc_when_pending": esc},
    }
    return {name: one for name, one in made.items() if one}


def _page(page: Any) -> dict[str, Any]:
    """A page: a mapping with slots, or the list of its slots alone. The prototype leaves out empty keys at the end."""
    fields = page if isinstance(page, dict) else {"slots": page}
    slots = [_slot(slot) for slot in _list(fields.get("slots"))]
    made: dict[str, Any] = {"slots": slots}
    name = fields.get("name") or fields.get("title") or fields.get("label")
    return {"name": name, **made} if name else made


def _slot(slot: Any) -> dict[str, Any] | None:
    if isinstance(slot, str):
        return {"prompt": slot} if slot not in ("", "empty") else None
    fields = _dict(slot)
    if fields.get("prompt_id") or fields.get("prompt"):
        return {"prompt": fields.get("prompt_id") or fields.get("prompt")}
    return {"gate": fields["gate"]} if fields.get("gate") else None


def _prompt(one: Any) -> dict[str, Any]:
    fields = {PROMPT_FIELDS.get(name, name): value for name, value in _dict(one).items() if value is not None}
    fields.pop("id", None)
    return fields


def _gate(one: Any) -> dict[str, Any]:
    fields = {name: value for name, value in _dict(one).items() if value is not None and name != "id"}
    action = str(fields.get("action", ""))
    return {**fields, "action": ACTIONS.get(action, action)}


def _named(value: Any) -> dict[str, Any]:
    """Entries by their names: a mapping, or a list of entries with an id."""
    if isinstance(value, list):
        return {str(one["id"]): one for one in value if isinstance(one, dict) and "id" in one}
    return {str(name): one for name, one in _dict(value).items()}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
