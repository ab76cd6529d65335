"""`qd worktrees`: list, diff, merge and discard the worktrees of owned sessions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from rich.text import Text

from quarterdeck.cli.common import (
    SLOW_CALL_SECONDS,
    Json,
    Output,
    Session,
    cell,
    client,
    command,
    default_command,
    full_session_id,
    group,
    option,
    table,
)
from quarterdeck.core.text.sanitize import visible
from quarterdeck.surfaces.client.view_reader import read_views
from quarterdeck.views.workspace.project_view import ProjectView
from quarterdeck.views.workspace.worktree_view import WorktreeView

app = group("Review, merge and discard the git worktrees of your sessions.", name="worktrees")
STYLES = {"+": "green", "-": "red", "@": "cyan"}


@default_command(app)
@command(app, "list")
def list_worktrees() -> Output:
    """List the worktrees: branch, base, changes and commits ahead."""
    found = client(SLOW_CALL_SECONDS).get("/api/v1/worktrees")
    columns: dict[str, str | Callable[[WorktreeView], object]] = {
        "session": lambda one: one.session_id[:8],
        "branch": lambda one: cell(one.branch, "cyan"),
        "base": "base",
        "": lambda one: changes(one, one.trouble),
        "path": lambda one: cell(one.path, "dim"),
    }
    shown = table(read_views(WorktreeView, found["worktrees"]), columns, ("path",))
    hint = "No worktrees. Start a session in one with: qd run --worktree PROMPT"
    return Output(found, [shown if found["worktrees"] else hint])


def changes(tree: WorktreeView | ProjectView, trouble: str | None) -> Text:
    """The state of a folder in git: uncommitted changes, and commits ahead of and behind its base."""
    ahead, behind = tree.ahead, tree.behind
    parts = ["changed" if tree.is_dirty else "", f"↑{ahead}" if ahead else "", f"↓{behind}" if behind else ""]
    return cell(" ".join(filter(None, [*parts, f"? {trouble}" if trouble else ""])), "yellow")


@command(app)
def diff(session: Session) -> Output:
    """Show the changes of a session's worktree since its base."""
    found = _call("GET", session, "/diff")
    return Output(found, _diff_lines(found))


def _diff_lines(found: Json) -> Iterator[Text]:
    for line in found["diff"].splitlines():
        yield Text(visible(line), style=STYLES.get(line[:1], ""))
    for name in found["untracked"]:
        yield cell(f"untracked: {name}", "yellow")
    if found["is_cut"]:
        sys.stderr.write("The diff is longer than shown; run git diff in the worktree to see all of it.\n")


@command(app)
def merge(session: Session) -> Output:
    """Merge a session's commits into its base branch."""
    found = _call("POST", session, "/merge", {})
    return Output(found, [f"Merged {found['branch']} into {found['base']}."])


@command(app)
def discard(
    session: Session,
    force: Annotated[bool, option("Discard even commits and changes that exist nowhere else.", "--force")] = False,
) -> Output:
    """Remove a session's worktree and its branch."""
    found = _call("DELETE", session, "?force=true" if force else "")
    return Output(found, [f"Discarded {found['branch']} in {found['path']}."])


def _call(method: str, session: str, more: str, body: dict[str, Any] | None = None) -> Json:
    api = client(SLOW_CALL_SECONDS)
    return api.call(method, f"/api/v1/worktrees/{full_session_id(api, session)}{more}", body)
