"""Sessions of ours from the command line: start, write to, stop, take over, and look at their terminals."""

from __future__ import annotations

import base64
import mimetypes
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from quarterdeck.cli.common import AsJson, client, out, plainly, print_json, whole_id
from quarterdeck.config import home_path
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.attach import attach_to
from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.text.labels import state_word

PATIENCE = 90.0
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MOST_BYTES = 10 * 1024 * 1024

Session = Annotated[str, typer.Argument(metavar="SESSION", help="A session's id, or enough of its beginning.")]
Modes = Literal["sdk", "pty", "tmux"]
Mode = Annotated[Modes, typer.Option("--mode", metavar="sdk|pty|tmux", help="Through the SDK, or in a terminal.")]
PermissionMode = Annotated[
    Literal["default", "acceptEdits", "plan", "dontAsk", "auto"] | None,
    typer.Option("--permission-mode", metavar="MODE", help="default, acceptEdits, plan, dontAsk or auto."),
]
Model = Annotated[str | None, typer.Option("--model", help="The model to use.")]
Attach = Annotated[
    list[Path] | None,
    typer.Option(
        "--attach", help="An image, a PDF or a text beside the prompt; may repeat.", dir_okay=False, exists=True
    ),
]


@plainly
def run(
    prompt: Annotated[str, typer.Argument(help="What the agent shall do; - reads it from stdin.")] = "",
    project: Annotated[
        Path | None, typer.Option("--project", help="The folder to work in; else this one.", file_okay=False)
    ] = None,
    mode: Mode = "sdk",
    permission_mode: PermissionMode = None,
    model: Model = None,
    title: Annotated[str | None, typer.Option("--title", help="What to call it.")] = None,
    max_turns: Annotated[int | None, typer.Option("--max-turns", min=1, help="End after so many turns.")] = None,
    attach: Attach = None,
    shell: Annotated[bool, typer.Option("--shell", help="A shell instead of an agent (pty, tmux).")] = False,
    worktree: Annotated[bool, typer.Option("--worktree", help="In a git worktree of its own.")] = False,
    base: Annotated[str | None, typer.Option("--base", help="The branch a worktree begins on.")] = None,
    json: AsJson = False,
) -> None:
    """Start a session in a trusted project."""
    body = {
        "cwd": str((project or Path()).resolve()),
        "mode": mode,
        "prompt": _said(prompt) or None,
        "permission_mode": permission_mode,
        "model": model,
        "title": title,
        "max_turns": max_turns,
        "attachments": _blocks(attach),
        "shell": shell,
        "worktree": worktree,
        "base": base,
    }
    _started(client(PATIENCE).post("/api/v1/sessions", _given(body)), json)


@plainly
def send(
    session: Session,
    prompt: Annotated[str, typer.Argument(help="What to write; - reads it from stdin.")],
    attach: Attach = None,
    json: AsJson = False,
) -> None:
    """Write to a session of ours."""
    asked = client(PATIENCE)
    session_id = whole_id(asked, session)
    body = _given({"prompt": _said(prompt), "attachments": _blocks(attach)})
    sent = asked.post(f"/api/v1/sessions/{session_id}/messages", body)
    if json:
        print_json(sent)
    else:
        out.print(f"Sent to {session_id}{behind(sent['ahead'])}.")


@plainly
def interrupt(session: Session, json: AsJson = False) -> None:
    """Make a session of ours stop what it does. Prompts that wait then go on."""
    asked = client(PATIENCE)
    found = asked.post(f"/api/v1/sessions/{whole_id(asked, session)}/interrupt", {})
    if json:
        print_json(found)
    elif found["interrupted"]:
        out.print(f"Interrupted: {found['session_id']}")
    else:
        out.print(f"Nothing to interrupt: {found['session_id']} is {state_word(found['agent_state']).word}")


@plainly
def end(session: Session, json: AsJson = False) -> None:
    """End a session of ours, with everything it started."""
    asked = client(PATIENCE)
    found = asked.post(f"/api/v1/sessions/{whole_id(asked, session)}/end", {})
    if json:
        print_json(found)
    else:
        out.print(f"Ended: {found['session_id']}")


@plainly
def resume(
    session: Session,
    prompt: Annotated[str, typer.Argument(help="What to write to it at once; - reads it from stdin.")] = "",
    mode: Mode = "sdk",
    permission_mode: PermissionMode = None,
    model: Model = None,
    json: AsJson = False,
) -> None:
    """Go on with a conversation that has ended."""
    asked = client(PATIENCE)
    body = {"resume": whole_id(asked, session), "mode": mode, "prompt": _said(prompt) or None}
    body |= {"permission_mode": permission_mode, "model": model}
    _started(asked.post("/api/v1/sessions", _given(body)), json)


@plainly
def fork(
    session: Session,
    prompt: Annotated[str, typer.Argument(help="What to write to the fork at once; - reads it from stdin.")] = "",
    at: Annotated[str | None, typer.Option("--at", help="From this message of the conversation on.")] = None,
    mode: Annotated[Modes | None, typer.Option("--mode", metavar="sdk|pty|tmux", help="Else as the session.")] = None,
    permission_mode: PermissionMode = None,
    json: AsJson = False,
) -> None:
    """Go on with a conversation under a new id. The old one stays as it is."""
    asked = client(PATIENCE)
    body = _given({"at": at, "mode": mode, "permission_mode": permission_mode, "prompt": _said(prompt) or None})
    _started(asked.post(f"/api/v1/sessions/{whole_id(asked, session)}/fork", body), json)


@plainly
def takeover(
    session: Session,
    prompt: Annotated[str, typer.Argument(help="What to write to it at once; - reads it from stdin.")] = "",
    mode: Mode = "sdk",
    permission_mode: PermissionMode = None,
    as_fork: Annotated[bool, typer.Option("--fork", help="As a fork, while it still runs where it was.")] = False,
    json: AsJson = False,
) -> None:
    """Make a session of ours of one that ran in a terminal."""
    asked = client(PATIENCE)
    body = {"mode": mode, "permission_mode": permission_mode, "fork": as_fork, "prompt": _said(prompt) or None}
    _started(asked.post(f"/api/v1/sessions/{whole_id(asked, session)}/takeover", _given(body)), json)


@plainly
def switch(
    session: Session,
    mode: Annotated[Modes | None, typer.Option("--mode", metavar="sdk|pty|tmux", help="Go on in this mode.")] = None,
    permission_mode: PermissionMode = None,
    model: Model = None,
    json: AsJson = False,
) -> None:
    """Let a session go on in another mode, model or permission mode."""
    asked = client(PATIENCE)
    body = _given({"mode": mode, "model": model, "permission_mode": permission_mode})
    if not body:
        raise typer.BadParameter("give --mode, --model or --permission-mode")
    changed = asked.post(f"/api/v1/sessions/{whole_id(asked, session)}/mode", body)
    if json:
        print_json(changed)
    else:
        out.print(f"{changed['session_id']}: {', '.join(body.values())}")


@plainly
def attach(session: Session) -> None:
    """Look at a session's terminal and type into it. Ctrl-] leaves it; for sessions of ours, and those in your tmux."""
    asked = client()
    found = asked.get(f"/api/v1/sessions/{whole_id(asked, session)}")
    attach_to(found, lambda: Client.where(home_path()), "cli")


@plainly
def give_back(session: Session, json: AsJson = False) -> None:
    """Print the command that goes on in a plain terminal."""
    asked = client()
    found = asked.get(f"/api/v1/sessions/{whole_id(asked, session)}")
    if json:
        print_json(found["resume"])
    elif found["resume"] is None:
        raise QuarterdeckError(f"{found['session_id']}: no command names it")
    else:
        running = found["owned"] is not None and found["owned"]["status"] in ("starting", "up", "ending")
        if running:
            sys.stderr.write(f"It still runs here; first: qd end {found['session_id']}\n")
        sys.stdout.write(f"cd {shlex.quote(found['resume']['cwd'])} && {found['resume']['command']}\n")


def behind(ahead: int) -> str:
    """What comes before a prompt."""
    if not ahead:
        return ""
    others = f" and {ahead - 1} prompt{'' if ahead == 2 else 's'} before it" if ahead > 1 else ""
    return f"; it waits behind the running turn{others}"


def _started(session: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(session)
        return
    short = session["session_id"][:8]
    out.print(f"Started {session['session_id']} ({session['mode']}) in {session['cwd']}")
    look = f"qd feed -f --session {short}" if session["mode"] == "sdk" else f"qd attach {short}"
    out.print(f"  see it: {look}   write to it: qd send {short} …   end it: qd end {short}", style="dim")


def _said(prompt: str) -> str:
    return sys.stdin.read() if prompt == "-" else prompt


def _given(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if value not in (None, [], False)}


def _blocks(files: list[Path] | None) -> list[dict[str, Any]]:
    return [_block(path) for path in files or ()]


def _block(path: Path) -> dict[str, Any]:
    """A file as an agent takes it beside a prompt."""
    data = path.read_bytes()
    if len(data) > MOST_BYTES:
        raise QuarterdeckError(f"{path}: is over {MOST_BYTES // 2**20} MiB; name it in the prompt instead")
    kind = mimetypes.guess_type(path.name)[0] or ""
    if kind in IMAGES or kind == "application/pdf":
        source = {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode()}
        return {"type": "image" if kind in IMAGES else "document", "source": source}
    try:
        return {"type": "text", "text": f"{path.name}:\n{data.decode()}"}
    except UnicodeDecodeError:
        raise QuarterdeckError(f"{path}: is neither an image, a PDF nor text; name it in the prompt instead") from None


def register(cli: typer.Typer) -> None:
    for command in (run, send, interrupt, end, resume, fork, takeover, switch, attach):
        cli.command()(command)
    cli.command("give-back")(give_back)
