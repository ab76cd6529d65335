"""Judges of risk that other packages bring, by the entry point group `quarterdeck.risk`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import structlog

from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.risk.assess import Risk
from quarterdeck.system.worker_thread import Aside, Stuck

GROUP = "quarterdeck.risk"
SECONDS = 0.05
COPY_SECONDS = 5.0
MOST_REASONS, LONGEST_REASON = 20, 300

Judge = Callable[[str, dict[str, Any], str, str], Any]

logger = structlog.get_logger("risk")


class Plugin:
    """One judge of another package. The first thing it does wrong switches it off until the next start."""

    def __init__(self, name: str, judge: Judge) -> None:
        self.name = name
        self.is_on = True
        self._judge = judge
        self._aside = Aside(f"risk-{name}")

    async def risk_of(self, tool_name: str, tool_input: dict[str, Any], cwd: str, home: str) -> Risk | None:
        """What it says; None when it has no opinion or is switched off."""
        if not self.is_on:
            return None
        try:
            given = await self._aside.run(COPY_SECONDS, copy.deepcopy, tool_input)
            said = await self._aside.run(SECONDS, self._judge, tool_name, given, cwd, home)
            return None if said is None else read_opinion(said)
        except Stuck:
            self._switch_off(f"took more than {SECONDS * 1000:.0f} ms")
        except Nonsense as error:
            self._switch_off(f"answered {error}")
        except Exception as error:
            self._switch_off(f"raised {type(error).__name__}")
        return None

    def _switch_off(self, why: str) -> None:
        if self.is_on:
            self.is_on = False
            logger.warning("a risk plug-in is switched off until the next start", plugin=self.name, why=why)

    def close(self) -> None:
        self._aside.close()


class Nonsense(Exception):
    """What a plug-in said instead of a level and reasons."""


def read_opinion(said: Any) -> Risk:
    """The answer of a plug-in, checked."""
    if not isinstance(said, tuple | list) or len(said) != 2:
        raise Nonsense("something other than (level, reasons)")
    level, reasons = said
    if not isinstance(level, str) or level not in LEVELS:
        raise Nonsense(f"a level that is none of {', '.join(LEVELS)}")
    if not isinstance(reasons, tuple | list) or not all(isinstance(reason, str) for reason in reasons):
        raise Nonsense("reasons that are no list of texts")
    return Risk(level, [reason[:LONGEST_REASON] for reason in reasons[:MOST_REASONS]])


def load_plugins(found: Iterable[EntryPoint] | None = None) -> list[Plugin]:
    """Every judge that is installed beside us; one that cannot be loaded is named in the log and left out."""
    plugins = []
    for point in entry_points(group=GROUP) if found is None else found:
        try:
            judge = point.load()
        except Exception as error:
            logger.warning("a risk plug-in cannot be loaded", plugin=point.name, why=type(error).__name__)
            continue
        if callable(judge):
            plugins.append(Plugin(point.name, judge))
            logger.info("a risk plug-in is loaded", plugin=point.name)
        else:
            logger.warning("a risk plug-in cannot be loaded", plugin=point.name, why="it is no function")
    return plugins
