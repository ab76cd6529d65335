"""Reads `deck.yaml`: the layout, or everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from quarterdeck.config.deck.deck_template import TEMPLATE
from quarterdeck.config.deck.yaml_nodes import YamlProblems, YamlValue, root_of
from quarterdeck.core.engine.deck_layout import (
    SLOTS,
    DeckGate,
    DeckLayout,
    DeckPage,
    DeckPrompt,
    DeckSlot,
    KeyAction,
)
from quarterdeck.errors import ConfigError

NAME = "deck.yaml"
MAX_BYTES = 1024 * 1024
MAX_PAGES = 100
LABEL, TEXT = 100, 10_000
SECTIONS = ("pages", "prompts", "gates", "dial", "defaults", "projects")
STYLES = ("queue", "prefill")
DIAL_MODES = ("os_scroll", "vscode_terminal_scroll")
ESC_MODES = ("cancel_only", "cancel_and_passthrough")
ACTIONS = tuple(action.value for action in KeyAction)


class DeckReading(Struct, frozen=True):
    """A layout, or the problems that it has, one line each."""

    layout: DeckLayout | None
    problems: list[str]


def read_deck_file(path: Path) -> DeckReading:
    """Read the file; without one, the layout of a new deck."""
    try:
        with path.open("rb") as file:
            body = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return read_deck(TEMPLATE, NAME)
    except OSError as error:
        return DeckReading(None, [f"{path}: cannot be read ({error.strerror})"])
    if len(body) > MAX_BYTES:
        return DeckReading(None, [f"{path}: is over 1 MiB"])
    try:
        return read_deck(body.decode(), str(path))
    except UnicodeDecodeError:
        return DeckReading(None, [f"{path}: is not UTF-8"])


def template_layout() -> DeckLayout:
    """The layout of a new deck."""
    return require_layout(read_deck(TEMPLATE, NAME))


def require_layout(reading: DeckReading) -> DeckLayout:
    """The layout, or a ConfigError with every problem."""
    if reading.layout is None:
        raise ConfigError("\n".join(reading.problems))
    return reading.layout


def read_deck(text: str, name: str) -> DeckReading:
    """Read the text of a file of this name."""
    problems = YamlProblems(name)
    root = root_of(text, problems)
    if root is None:
        if not problems.lines:
            problems.add(None, "has no pages; for a file to start from: qd deck init")
        return DeckReading(None, problems.lines)
    layout = _DeckReader(problems).layout(root)
    return DeckReading(None if problems.lines else layout, problems.lines)


class _DeckReader:
    """Reads the sections, the names first that pages refer to."""

    def __init__(self, problems: YamlProblems) -> None:
        self._problems = problems
        self._prompts: Mapping[str, YamlValue] = {}
        self._gates: Mapping[str, YamlValue] = {}

    def layout(self, root: YamlValue) -> DeckLayout:
        problems = self._problems
        sections = problems.mapping(root, SECTIONS)
        defaults = self._section(sections, "defaults", ("style", "esc_when_pending"))
        style = problems.word(defaults.get("style"), STYLES, "queue")
        self._prompts = problems.mapping(sections["prompts"]) if "prompts" in sections else {}
        self._gates = problems.mapping(sections["gates"]) if "gates" in sections else {}
        dial = self._section(sections, "dial", ("mode",))
        settings: dict[str, Any] = {
            "dial_mode": problems.word(dial.get("mode"), DIAL_MODES, "os_scroll"),
            "esc_when_pending": problems.word(defaults.get("esc_when_pending"), ESC_MODES, "cancel_only"),
        }
        return DeckLayout(
            prompts={name: self._prompt(value, style) for name, value in self._prompts.items()},
            gates={name: self._gate(value) for name, value in self._gates.items()},
            pages=self._pages(sections.get("pages"), root),
            projects=self._projects(sections.get("projects")),
            **settings,
        )

    def _section(self, sections: Mapping[str, YamlValue], name: str, keys: tuple[str, ...]) -> dict[str, YamlValue]:
        return self._problems.mapping(sections[name], keys) if name in sections else {}

    def _prompt(self, value: YamlValue, style: str) -> DeckPrompt:
        problems = self._problems
        fields = problems.mapping(value, ("label", "sublabel", "claude_command", "fallback_text", "style"))
        texts = {name: problems.text(fields.get(name), most=TEXT) for name in ("claude_command", "fallback_text")}
        known = len(problems.lines)
        found: Any = problems.word(fields.get("style"), STYLES, style)
        if not any(texts.values()) and len(problems.lines) == known:
            problems.add(value, "needs a claude_command or a fallback_text")
        return DeckPrompt(label=self._label(value, fields), sublabel=self._sublabel(fields), style=found, **texts)

    def _gate(self, value: YamlValue) -> DeckGate:
        problems = self._problems
        fields = problems.mapping(value, ("label", "sublabel", "action"))
        if "action" not in fields:
            problems.add(value, f"needs an action: one of {', '.join(ACTIONS)}")
        action = KeyAction(problems.word(fields.get("action"), ACTIONS, "next"))
        return DeckGate(label=self._label(value, fields), sublabel=self._sublabel(fields), action=action)

    def _label(self, value: YamlValue, fields: Mapping[str, YamlValue]) -> str:
        label = self._problems.text(fields.get("label"), most=LABEL)
        if "label" not in fields:
            self._problems.add(value, "needs a label")
        return label

    def _sublabel(self, fields: Mapping[str, YamlValue]) -> str:
        return self._problems.text(fields.get("sublabel"), most=LABEL)

    def _projects(self, value: YamlValue | None) -> dict[str, tuple[DeckPage, ...]]:
        found = {}
        for folder, one in (self._problems.mapping(value) if value is not None else {}).items():
            if not folder.startswith("/"):
                self._problems.add(one, "must be the whole path of a folder, from /")
            fields = self._problems.mapping(one, ("pages",))
            found[folder.rstrip("/") or "/"] = self._pages(fields.get("pages"), one)
        return found

    def _pages(self, value: YamlValue | None, owner: YamlValue) -> tuple[DeckPage, ...]:
        pages = tuple(self._page(one) for one in self._problems.items(value)) if value is not None else ()
        if not pages:
            self._problems.add(value or owner, "needs at least one page under pages:")
        if len(pages) > MAX_PAGES:
            self._problems.add(value, f"may have {MAX_PAGES} pages, has {len(pages)}")
        return pages

    def _page(self, value: YamlValue) -> DeckPage:
        fields = self._problems.mapping(value, ("name", "slots"))
        name = self._problems.text(fields.get("name"), most=LABEL)
        slots = fields.get("slots")
        found = tuple(self._slot(one) for one in self._problems.items(slots)) if slots is not None else ()
        if len(found) != SLOTS:
            self._problems.add(slots or value, f"must have {SLOTS} keys, has {len(found)}; leave one empty with ~")
        return DeckPage(name=name, slots=found)

    def _slot(self, value: YamlValue) -> DeckSlot:
        fields = self._problems.mapping(value, ("prompt", "gate", "decision"))
        if len(fields) > 1:
            self._problems.add(value, f"is one thing, not {' and '.join(fields)}")
        action = self._problems.word(fields.get("decision"), ACTIONS, "")
        return DeckSlot(
            prompt=self._name(fields.get("prompt"), self._prompts, "prompts"),
            gate=self._name(fields.get("gate"), self._gates, "gates"),
            decision=KeyAction(action) if action else None,
        )

    def _name(self, value: YamlValue | None, known: Mapping[str, YamlValue], section: str) -> str | None:
        """The name of a prompt or gate that exists."""
        name = self._problems.text(value, most=LABEL)
        if name and name not in known:
            self._problems.add(value, f"{name} is not under {section}: there is {', '.join(known) or 'nothing'}")
        return name or None
