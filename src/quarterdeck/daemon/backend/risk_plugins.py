"""Risk plug-ins from other packages, by the entry point group `quarterdeck.risk`."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import structlog

from quarterdeck.core.model.risk_levels import LEVELS, Risk
from quarterdeck.system.worker_thread import WorkerThread, WorkerTimeout

GROUP = "quarterdeck.risk"
# An answer should take less than this. A busy machine exceeds it now and then: only a plug-in that is late this many
# times in a row is slow itself.
USUAL_SECONDS = 0.05
MAX_LATE = 10
MOST_SECONDS = 1.0
COPY_SECONDS = 5.0
MAX_REASONS, MAX_REASON_LENGTH = 20, 300

Judge = Callable[[str, dict[str, Any], str, str], Any]

logger = structlog.get_logger("risk")


class RiskPlugin:
    """One risk plug-in. Its first mistake switches it off until the next start; being late is one when it goes on."""

    def __init__(
        self,
        name: str,
        judge: Judge,
        *,
        usual_seconds: float = USUAL_SECONDS,
        most_seconds: float = MOST_SECONDS,
    ) -> None:
        self.name = name
        self.is_on = True
        self._judge = judge
        self._usual_seconds = usual_seconds
        self._most_seconds = most_seconds
        self._late = 0
        self._thread = WorkerThread(f"risk-{name}")

    async def risk_of(self, tool_name: str, tool_input: dict[str, Any], cwd: str, home: str) -> Risk | None:
        """The opinion of the plug-in; None when it has none or is switched off."""
        if not self.is_on:
            return None
        try:
            tool_copy = await self._thread.run(COPY_SECONDS, copy.deepcopy, tool_input)
            began = time.monotonic()
            opinion = await self._thread.run(self._most_seconds, self._judge, tool_name, tool_copy, cwd, home)
            self._count_late(time.monotonic() - began)
            return None if opinion is None else read_opinion(opinion)
        except WorkerTimeout:
            self._switch_off(f"took more than {self._most_seconds:g} s")
        except BadOpinion as error:
            self._switch_off(f"answered {error}")
        except Exception as error:
            self._switch_off(f"raised {type(error).__name__}")
        return None

    def _count_late(self, seconds: float) -> None:
        self._late = self._late + 1 if seconds > self._usual_seconds else 0
        if self._late == MAX_LATE:
            self._switch_off(f"took more than {self._usual_seconds * 1000:.0f} ms {MAX_LATE} times in a row")

    def _switch_off(self, why: str) -> None:
        if self.is_on:
            self.is_on = False
            logger.warning("a risk plug-in is switched off until the next start", plugin=self.name, why=why)

    def close(self) -> None:
        self._thread.close()


class BadOpinion(Exception):
    """An answer of a plug-in that is not a level with reasons."""


def read_opinion(opinion: Any) -> Risk:
    """Check the answer of a plug-in."""
    if not isinstance(opinion, tuple | list) or len(opinion) != 2:
        raise BadOpinion("something other than (level, reasons)")
    level, reasons = opinion
    if not isinstance(level, str) or level not in LEVELS:
        raise BadOpinion(f"a level other than {', '.join(LEVELS)}")
    if not isinstance(reasons, tuple | list) or not all(isinstance(reason, str) for reason in reasons):
        raise BadOpinion("reasons that are not a list of texts")
    return Risk(level, [reason[:MAX_REASON_LENGTH] for reason in reasons[:MAX_REASONS]])


def load_plugins(found: Iterable[EntryPoint] | None = None) -> list[RiskPlugin]:
    """Every installed plug-in. One that cannot be loaded is named in the log and left out."""
    plugins = []
    for point in entry_points(group=GROUP) if found is None else found:
        try:
            judge = point.load()
        except Exception as error:
            logger.warning("a risk plug-in cannot be loaded", plugin=point.name, why=type(error).__name__)
            continue
        if callable(judge):
            plugins.append(RiskPlugin(point.name, judge))
            logger.info("a risk plug-in is loaded", plugin=point.name)
        else:
            logger.warning("a risk plug-in cannot be loaded", plugin=point.name, why="it is not a function")
    return plugins
