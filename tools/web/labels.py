"""Write the page's labels from the tables of the core and of every surface. Run: make docs"""

from __future__ import annotations

import json
from pathlib import Path

from quarterdeck.core.engine.session_messages import MODES
from quarterdeck.core.model.decisions import PERMISSION_MODES, PlanMode
from quarterdeck.core.model.events import HIDDEN
from quarterdeck.core.model.risk_levels import MARKS
from quarterdeck.core.text.feed.row_keys import REPEATING_NOTIFICATIONS
from quarterdeck.core.text.feed.row_words import NAMES
from quarterdeck.core.text.titles import SUBJECT_FIELDS
from quarterdeck.surfaces.terminal.request_card import FORMS, WANTS
from quarterdeck.surfaces.text.session_order import RANKS
from quarterdeck.views.session_label import STATES

FILE = Path(__file__).parents[2] / "src" / "quarterdeck" / "surfaces" / "web" / "lib" / "labels.js"


def labels_text() -> str:
    """The file as it should be."""
    tables: dict[str, tuple[str, object]] = {
        "MARKS": ("Record<string, string>", dict(MARKS)),
        "RISK_RANKS": ("Record<string, number>", {level: rank for rank, level in enumerate(MARKS)}),
        "STATE_RANKS": ("Record<string, number>", dict(RANKS)),
        "STATE_WORDS": ("Record<string, string>", {str(state): label.word for state, label in STATES.items()}),
        "GLYPHS": ("Record<string, string>", {str(state): label.glyph for state, label in STATES.items()}),
        "WANTS": ("Record<string, string>", {str(kind): words for kind, words in WANTS.items()}),
        "FORMS": ("Record<string, string>", FORMS),
        "TOOL_NAMES": ("Record<string, string>", {str(kind): name for kind, name in NAMES.items()}),
        "SUBJECT_FIELDS": ("string[]", list(SUBJECT_FIELDS)),
        "HIDDEN_KINDS": ("string[]", sorted(HIDDEN)),
        "REPEATING_NOTIFICATIONS": ("string[]", sorted(REPEATING_NOTIFICATIONS)),
        "PERMISSION_MODES": ("string[]", list(PERMISSION_MODES)),
        "PLAN_MODES": ("string[]", [str(mode) for mode in PlanMode]),
        "SESSION_MODES": ("string[]", list(MODES)),
    }
    head = "// Written by `make docs` from the tables in Python; a test compares.\n"
    return head + "".join(
        f"\n/** @type {{{kind}}} */\nexport const {name} = {json.dumps(value, indent=2, ensure_ascii=False)};\n"
        for name, (kind, value) in tables.items()
    )


if __name__ == "__main__":
    FILE.write_text(labels_text(), encoding="utf-8")
