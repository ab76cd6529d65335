"""Projects as rows and lines: what the daemon knows of a folder, beside the sessions in it; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from quarterdeck.core.text.titles import count, money
from quarterdeck.surfaces.terminal.styled_text import Line, line
from quarterdeck.surfaces.terminal.usage_totals import spent_by
from quarterdeck.surfaces.text.labels import ago, project_name, state_word
from quarterdeck.surfaces.tui.widgets.table import Cell

Json = dict[str, Any]
MOST = 8
"""Sessions that are named, of those that run and of those before."""
NAME = 24


class Place(Struct, frozen=True, kw_only=True):
    """A folder: the project that the daemon knows there, if any, and its sessions, the latest first."""

    path: str
    project: Json | None
    sessions: tuple[Json, ...]

    @property
    def live(self) -> list[Json]:
        return [one for one in self.sessions if one["ended_at"] is None]

    @property
    def waiting(self) -> int:
        return sum(one["pending"] for one in self.sessions)

    @property
    def prior(self) -> list[Json]:
        """Conversations that only the daemon's list of the project knows, the latest first."""
        known = {one["session_id"] for one in self.sessions}
        found = [one for one in (self.project or {}).get("prior_sessions", ()) if one["session_id"] not in known]
        return sorted(found, key=lambda one: -one["last_used_at"])

    @property
    def takes(self) -> set[str]:
        """What can be done about it."""
        project = self.project
        fits = {"start"} | ({"feed"} if self.sessions else set())
        if project is not None:
            fits |= {"trust"} if not project["trusted"] else set()
            fits |= {"untrust"} if project["trust"] != "none" else set()
        return fits

    @property
    def used_at(self) -> float | None:
        """When an agent last worked here; None where none ever did."""
        times = [one["last_event_at"] for one in self.sessions] + [one["last_used_at"] for one in self.prior]
        return max(times, default=None)


def places(projects: Iterable[Json], sessions: Iterable[Json]) -> list[Place]:
    """Every project, and every folder of a session that is none; where somebody waits first, then the latest."""
    known = {one["path"]: one for one in projects}
    by_id = {one["project_id"]: path for path, one in known.items() if one["project_id"]}
    inside: dict[str, list[Json]] = defaultdict(list)
    for session in sessions:
        inside[_folder(session, by_id)].append(session)
    found = [
        Place(
            path=path,
            project=known.get(path),
            sessions=tuple(sorted(inside[path], key=lambda one: (one["ended_at"] is not None, -one["started_at"]))),
        )
        for path in known.keys() | inside.keys()
    ]
    return sorted(found, key=lambda one: (-one.waiting, not one.live, -(one.used_at or 0.0), one.path))


def _folder(session: Json, by_id: dict[str, str]) -> str:
    """The folder of the project that a session works in; a worktree counts to the project that it was made from."""
    worktree = (session.get("owned") or {}).get("worktree")
    return str(worktree or by_id.get(session["project_id"]) or session["cwd"])


def place_rows(found: Iterable[Place], now: float) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """Each project on a row."""
    for place in found:
        project = place.project or {}
        everyone = len(place.sessions) + len(place.prior)
        cells: tuple[Cell, ...] = (
            ((project.get("name") or project_name(place.path))[:NAME], "strong"),
            (str(place.waiting) if place.waiting else "", "waiting"),
            _trust(project),
            _branch(project),
            f"{len(place.live)}/{everyone}" if everyone else "",
            money(spent_by(place.sessions).cost),
            (ago(place.used_at, now) if place.used_at else "never", "dim"),
            (place.path, "dim"),
        )
        yield place.path, cells


def _trust(project: Json) -> Cell:
    if project.get("trusted"):
        return "✓ trusted", "good"
    return ("· rules", "warn") if project.get("trust") == "rules" else ("· no", "dim")


def _branch(project: Json) -> Cell:
    """The branch, with a star where something is changed and with how far it is from where it comes from."""
    if not project.get("git_branch"):
        return "", "dim"
    ahead, behind = project.get("ahead"), project.get("behind")
    marks = ["*" if project.get("is_dirty") else "", f" ↑{ahead}" if ahead else "", f" ↓{behind}" if behind else ""]
    return project["git_branch"] + "".join(marks), ""


def place_lines(place: Place, now: float) -> Iterator[Line]:
    """All that is known of one."""
    yield line((place.path, "strong"))
    if place.project is None:
        yield line(("The daemon knows no project here: the folder is gone, or lies outside projects.roots.", "dim"))
    else:
        yield from _known(place.project)
    spent = spent_by(place.sessions)
    figures = [f"{spent.tools:,} tools", f"{spent.failures:,} failed", f"{count(spent.tokens)} tokens"]
    yield line(("used: ", "dim"), " · ".join([*figures, *filter(None, [money(spent.cost)])]))
    for session in place.live[:MOST]:
        state = state_word(session["agent_state"])
        waits = f" · {session['pending']} waiting" if session["pending"] > 1 else ""
        yield line(f"{state.glyph} {state.word}{waits}  ", (session["title"], "dim"), indent=2)
    past = [(one["last_event_at"], one["title"]) for one in place.sessions if one["ended_at"] is not None]
    past += [(one["last_used_at"], one["title"]) for one in place.prior]
    past.sort(reverse=True)
    for at, title in past[:MOST]:
        yield line((f"– {ago(at, now)}  ", "dim"), title or "without a title", indent=2)
    if more := max(0, len(past) - MOST) + max(0, len(place.live) - MOST):
        yield line((f"and {more:,} more", "dim"), indent=2)


def _known(project: Json) -> Iterator[Line]:
    trust = {"full": "trusted: its rules hold, sessions may be started", "rules": "trusted for its rules alone"}
    yield line(trust.get(project["trust"], "not trusted: t shows what it brings, and asks"))
    if project["git_branch"]:
        changed = {True: "changed", False: "nothing changed", None: "changes not known"}[project["is_dirty"]]
        ways = [f"{project[way]} {way}" for way in ("ahead", "behind") if project[way]]
        yield line(("branch: ", "dim"), " · ".join([project["git_branch"], changed, *ways]))
    for name, value in (
        ("worktree of", project["worktree_of"]),
        ("comes from", project["git_remote"]),
        ("! git", project["git_trouble"]),
    ):
        if value:
            yield line((f"{name}: ", "warn" if name.startswith("!") else "dim"), value)
    if project["has_claude_config"]:
        yield line(("has a .claude of its own", "dim"))
