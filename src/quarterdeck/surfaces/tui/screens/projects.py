"""Sessions and what they cost, by folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from quarterdeck.core.titles import count, money
from quarterdeck.surfaces.tui.grid import Cell, Grid
from quarterdeck.surfaces.tui.screens.table import TablePage
from quarterdeck.surfaces.words import ago, project_name

Json = dict[str, Any]
KINDS = ("input", "output", "cache_read", "cache_write")


def project_rows(sessions: Iterable[Json], now: float) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """One row a folder; those where somebody waits first, then the latest."""
    folders: dict[str, list[Json]] = defaultdict(list)
    for session in sessions:
        folders[session["cwd"]].append(session)
    order = sorted(folders.items(), key=lambda item: (-_sum(item[1], "pending"), -_last(item[1])))
    for cwd, found in order:
        live = [s for s in found if s["ended_at"] is None]
        waiting = _sum(found, "pending")
        usage = [s["usage"] for s in found if s["usage"]]
        costs = [u["cost_usd"] for u in usage if u["cost_usd"] is not None]
        yield (
            cwd,
            (
                (project_name(cwd), "strong"),
                (str(waiting) if waiting else "", "waiting"),
                f"{len(live)} / {len(found)}",
                f"{sum(s['counters']['tool_uses'] for s in found):,}",
                f"{sum(s['counters']['tool_failures'] for s in found):,}",
                count(sum(u[f"{kind}_tokens"] for u in usage for kind in KINDS)) if usage else "",
                money(sum(costs)) if costs else "",
                ago(_last(found), now),
                (cwd, "dim"),
            ),
        )


def _sum(sessions: list[Json], field: str) -> int:
    return sum(s[field] for s in sessions)


def _last(sessions: list[Json]) -> float:
    return float(max(s["last_event_at"] for s in sessions))


class ProjectsPage(TablePage):
    """Enter shows the latest session of a project."""

    heading = "Projects"
    columns = ("project", "waits", "live / all", "tools", "failed", "tokens", "cost", "last", "folder")
    empty = "No session was seen yet."

    def action_reload(self) -> None:
        self.fill(project_rows(self.face.model.sessions.values(), self.face.clock()))

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        found = [s for s in self.face.model.shown_sessions(ended=True) if s["cwd"] == message.key]
        if found:
            self.app.pop_screen()
            self.face.bridge.show_session(max(found, key=_started)["session_id"])


def _started(session: Json) -> float:
    return float(session["started_at"])
