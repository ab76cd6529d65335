"""The kinds of events: each is recorded somewhere, or reserved."""

from __future__ import annotations

import re
from pathlib import Path

import quarterdeck.core.model.events
from quarterdeck.core.model.events import AUDIT_KINDS, HIDDEN, KINDS, RESERVED

SOURCE = Path(quarterdeck.core.model.events.__file__).parents[2]
RECORDING = ("core/handlers", "core/engine", "core/rules", "daemon")
"""The folders in which events are made."""


def recorded_kinds() -> set[str]:
    """The kinds that the code names where it makes events; of a name that is put together, all with its beginning."""
    code = "".join(file.read_text() for folder in RECORDING for file in (SOURCE / folder).rglob("*.py"))
    whole = {kind for kind in KINDS if f'"{kind}"' in code}
    begun = set(re.findall(r'f"([a-z.]+\.)\{', code))
    return whole | {kind for kind in KINDS if kind.rpartition(".")[0] + "." in begun}


def test_every_kind_is_recorded_or_reserved() -> None:
    assert KINDS.keys() - recorded_kinds() == RESERVED


def test_lists_of_kinds_name_known_ones() -> None:
    assert {*AUDIT_KINDS, *HIDDEN, *RESERVED} <= KINDS.keys()
