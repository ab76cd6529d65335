"""Worktrees of sessions from the command line: what they changed, and where that goes."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from quarterdeck.cli.common import AsJson, cell, client, out, plainly, print_json, whole_id
from quarterdeck.core.text.sanitize import visible

worktrees = typer.Typer(
    help="The git worktrees that sessions of ours work in.", invoke_without_command=True, rich_markup_mode=None
)
PATIENCE = 60.0
Session = Annotated[str, typer.Argument(metavar="SESSION", help="A session's id, or enough of its beginning.")]


@worktrees.callback()
@plainly
def list_worktrees(context: typer.Context, json: AsJson = False) -> None:
    """List them: branch, base, what is not committed, and how many commits they are ahead."""
    if context.invoked_subcommand is None:
        _show(json)


@worktrees.command("list")
@plainly
def list_again(json: AsJson = False) -> None:
    """List the worktrees, as `qd worktrees` does."""
    _show(json)


def _show(json: bool) -> None:
    found = client(PATIENCE).get("/api/v1/worktrees")
    if json:
        print_json(found)
    elif not found["worktrees"]:
        out.print("No worktrees. Start a session in one with: qd run --worktree PROMPT")
    else:
        out.print(_table(found["worktrees"]))


@worktrees.command("diff")
@plainly
def diff(session: Session, json: AsJson = False) -> None:
    """Show what a session's worktree has changed since its base."""
    asked = client(PATIENCE)
    found = asked.get(f"/api/v1/worktrees/{whole_id(asked, session)}/diff")
    if json:
        print_json(found)
        return
    for line in found["diff"].splitlines():
        out.print(Text(visible(line), style=STYLES.get(line[:1], "")))
    for name in found["untracked"]:
        out.print(cell(f"new, not added to git: {name}", "yellow"))
    if found["is_cut"]:
        sys.stderr.write("There is more than is shown; see it with git diff in the worktree.\n")


@worktrees.command("merge")
@plainly
def merge(session: Session, json: AsJson = False) -> None:
    """Merge a session's commits into the branch it began on."""
    asked = client(PATIENCE)
    found = asked.post(f"/api/v1/worktrees/{whole_id(asked, session)}/merge", {})
    _said(found, f"Merged {found['branch']} into {found['base']}.", json)


@worktrees.command("discard")
@plainly
def discard(
    session: Session,
    force: Annotated[bool, typer.Option("--force", help="Also work that is nowhere else.")] = False,
    json: AsJson = False,
) -> None:
    """Take a session's worktree and its branch away."""
    asked = client(PATIENCE)
    where = f"/api/v1/worktrees/{whole_id(asked, session)}{'?force=true' if force else ''}"
    found = asked.call("DELETE", where)
    _said(found, f"Discarded {found['branch']} in {found['path']}.", json)


STYLES = {"+": "green", "-": "red", "@": "cyan"}


def _said(found: dict[str, Any], words: str, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        out.print(cell(words))


def _table(found: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("session", "branch", "base", "", "path"):
        table.add_column(column, no_wrap=column != "path", overflow="fold")
    for one in found:
        parts = ["changed" if one["is_dirty"] else "", f"↑{one['ahead']}" if one["ahead"] else ""]
        parts += [f"↓{one['behind']}" if one["behind"] else "", f"? {one['trouble']}" if one["trouble"] else ""]
        table.add_row(
            cell(one["session_id"][:8]),
            cell(one["branch"], "cyan"),
            cell(one["base"]),
            cell(" ".join(part for part in parts if part), "yellow"),
            cell(one["path"], "dim"),
        )
    return table


def register(cli: typer.Typer) -> None:
    cli.add_typer(worktrees, name="worktrees")
