"""Projects as rows and lines: the daemon's view of a folder, and the sessions in it; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec import Struct

from quarterdeck.core.text.amounts import count, cut, money
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.terminal.styled_text import Cell, Row, StyledLine, TableRows, TextSpan, line
from quarterdeck.surfaces.terminal.usage_totals import total_usage
from quarterdeck.surfaces.text.labels import ago, project_name, state_label
from quarterdeck.views.resources.session_view import SessionView
from quarterdeck.views.workspace.project_view import PriorSession, ProjectView

MAX_SESSIONS = 8
"""Sessions that are listed, both of the live and of the past ones."""
NAME = 24
CHOICE_NAME = 22
"""Cells of a name where a project is chosen for a session."""


class ProjectPlace(Struct, frozen=True, kw_only=True):
    """A folder: its project, if the daemon knows one there, and its sessions, the latest first."""

    path: str
    project: ProjectView | None
    sessions: tuple[SessionView, ...]

    @property
    def live(self) -> list[SessionView]:
        return [one for one in self.sessions if one.ended_at is None]

    @property
    def waiting(self) -> int:
        return sum(one.pending for one in self.sessions)

    @property
    def prior(self) -> list[PriorSession]:
        """Earlier conversations that only the daemon's view of the project lists, the latest first."""
        known = {one.session_id for one in self.sessions}
        places = [one for one in (self.project.prior_sessions if self.project else ()) if one.session_id not in known]
        return sorted(places, key=lambda one: -one.last_used_at)

    @property
    def actions(self) -> set[str]:
        """The actions that this place takes."""
        project = self.project
        actions = {"start"} | ({"feed"} if self.sessions else set())
        if project is not None:
            actions |= {"trust"} if not project.trusted else set()
            actions |= {"untrust"} if project.trust != "none" else set()
        return actions

    @property
    def used_at(self) -> float | None:
        """The time at which an agent last worked here; None if none ever did."""
        times = [one.last_event_at for one in self.sessions] + [one.last_used_at for one in self.prior]
        return max(times, default=None)


def project_places(projects: Iterable[ProjectView], sessions: Iterable[SessionView]) -> list[ProjectPlace]:
    """Every project, and every folder of a session that is no project: those with waiting requests first, then the
    latest."""
    known = {one.path: one for one in projects}
    by_id = {one.project_id: path for path, one in known.items() if one.project_id}
    sessions_in: dict[str, list[SessionView]] = defaultdict(list)
    for session in sessions:
        sessions_in[_folder(session, by_id)].append(session)
    places = [
        ProjectPlace(
            path=path,
            project=known.get(path),
            sessions=tuple(sorted(sessions_in[path], key=lambda one: (one.ended_at is not None, -one.started_at))),
        )
        for path in known.keys() | sessions_in.keys()
    ]
    return sorted(places, key=lambda one: (-one.waiting, not one.live, -(one.used_at or 0.0), one.path))


def _folder(session: SessionView, by_id: dict[str, str]) -> str:
    """The folder of the project that a session works in. A worktree belongs to the project it was made from."""
    worktree = session.owned.worktree if session.owned else None
    return worktree or by_id.get(session.project_id or "") or session.cwd


def place_rows(places: Iterable[ProjectPlace], now: float) -> TableRows:
    """One row for each project."""
    for place in places:
        project = place.project
        total = len(place.sessions) + len(place.prior)
        cells: tuple[Cell, ...] = (
            ((project.name if project else project_name(place.path))[:NAME], "strong"),
            (str(place.waiting) if place.waiting else "", "waiting"),
            _trust(project),
            _branch(project),
            f"{len(place.live)}/{total}" if total else "",
            money(total_usage(place.sessions).cost),
            (ago(place.used_at, now) if place.used_at else "never", "dim"),
            (place.path, "dim"),
        )
        yield place.path, cells


def _trust(project: ProjectView | None) -> Cell:
    if project is not None and project.trusted:
        return "✓ trusted", "good"
    return ("· rules", "warn") if project is not None and project.trust == "rules" else ("· no", "dim")


def _branch(project: ProjectView | None) -> Cell:
    """The branch, a star for uncommitted changes, and the commits it is ahead of and behind its upstream."""
    if project is None or not project.git_branch:
        return "", "dim"
    ahead, behind = project.ahead, project.behind
    marks = ["*" if project.is_dirty else "", f" ↑{ahead}" if ahead else "", f" ↓{behind}" if behind else ""]
    return project.git_branch + "".join(marks), ""


def place_lines(place: ProjectPlace, now: float) -> Iterator[StyledLine]:
    """All of one project."""
    yield line((place.path, "strong"))
    if place.project is None:
        yield line(("The daemon knows no project here: the folder is gone, or lies outside projects.roots.", "dim"))
    else:
        yield from _project_lines(place.project)
    usage = total_usage(place.sessions)
    figures = [f"{usage.tools:,} tools", f"{usage.failures:,} failed", f"{count(usage.tokens)} tokens"]
    yield line(("used: ", "dim"), " · ".join([*figures, *filter(None, [money(usage.cost)])]))
    for session in place.live[:MAX_SESSIONS]:
        state = state_label(session)
        waits = f" · {session.pending} waiting" if session.pending > 1 else ""
        yield line(f"{state.glyph} {state.word}{waits}  ", (session.title, "dim"), indent=2)
    past = [(one.last_event_at, one.title) for one in place.sessions if one.ended_at is not None]
    past += [(one.last_used_at, one.title) for one in place.prior]
    past.sort(reverse=True)
    for at, title in past[:MAX_SESSIONS]:
        yield line((f"– {ago(at, now)}  ", "dim"), title or "without a title", indent=2)
    if more := max(0, len(past) - MAX_SESSIONS) + max(0, len(place.live) - MAX_SESSIONS):
        yield line((f"and {more:,} more", "dim"), indent=2)


def _project_lines(project: ProjectView) -> Iterator[StyledLine]:
    trust = {"full": "trusted: its rules hold, sessions may be started", "rules": "trusted for its rules alone"}
    yield line(trust.get(project.trust, "not trusted: t shows its project config, and asks"))
    if project.git_branch:
        changed = {True: "changed", False: "nothing changed", None: "changes not known"}[project.is_dirty]
        distances = [f"{n} {side}" for n, side in ((project.ahead, "ahead"), (project.behind, "behind")) if n]
        yield line(("branch: ", "dim"), " · ".join([project.git_branch, changed, *distances]))
    for name, value in (
        ("worktree of", project.worktree_of),
        ("comes from", project.git_remote),
        ("! git", project.git_trouble),
    ):
        if value:
            yield line((f"{name}: ", "warn" if name.startswith("!") else "dim"), value)
    if project.has_claude_config:
        yield line(("has its own .claude folder", "dim"))


def project_row(project: ProjectView, width: int) -> Row:
    """One project: trusted or not, by a sign and a word; its name, branch and folder."""
    trusted = project.trusted
    name = cut(one_line(project.name), CHOICE_NAME)
    branch = f"  {cut(one_line(project.git_branch), 20)}" if project.git_branch else ""
    parts = [
        TextSpan(" ✓ trusted  " if trusted else " · untrusted", "good" if trusted else "dim"),
        TextSpan(f" {name}", "strong"),
        TextSpan(branch, "dim"),
    ]
    room = max(8, width - sum(len(part.text) for part in parts) - 3)
    return (*parts, TextSpan(f"  {cut(one_line(project.path), room)}", "dim"))
