"""Start and control sessions: run, send, interrupt, end, resume, fork, takeover, switch, attach, give-back."""

from __future__ import annotations

import base64
import mimetypes
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from quarterdeck.cli.common import (
    SLOW_CALL_SECONDS,
    Json,
    Output,
    Session,
    Yes,
    argument,
    cell,
    client,
    command,
    confirm,
    endpoint,
    full_session_id,
    group,
    option,
    out,
    remote,
    without_empty,
)
from quarterdeck.core.engine.session_messages import MODES, SessionMode
from quarterdeck.core.model.decisions import PERMISSION_MODES, PermissionMode
from quarterdeck.errors import Misused, QuarterdeckError
from quarterdeck.surfaces.client.attach import attach_to
from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.surfaces.text.labels import state_label
from quarterdeck.surfaces.text.stop_labels import END, INTERRUPT, StopWords, stop_line, stop_result_line
from quarterdeck.system.terminal_end import ends_with_terminal
from quarterdeck.views.resources.session_view import SessionView, StopResults

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MOST_BYTES = 10 * 1024 * 1024

app = group("Start and control sessions.")
Prompt = Annotated[str, argument("Prompt for the agent; - reads it from stdin.")]
Mode = Annotated[
    SessionMode | None, option("How to run it: through the SDK (default), or in a terminal.", metavar="|".join(MODES))
]
ContinuedMode = Annotated[
    SessionMode | None, option("How to run it (default: the session's mode, else sdk).", metavar="|".join(MODES))
]
NewMode = Annotated[SessionMode | None, option("New mode (default: unchanged).", "--mode", metavar="|".join(MODES))]
Permissions = Annotated[
    PermissionMode | None,
    option(f"Permission mode: {', '.join(PERMISSION_MODES)}.", "--permission-mode", metavar="MODE"),
]
Model = Annotated[str | None, option("Model to use.")]
Attach = Annotated[
    list[Path] | None,
    option("Image, PDF or text file to send with the prompt; repeatable.", dir_okay=False, exists=True),
]


Sessions = Annotated[
    list[str] | None, argument("Session ids, or unique prefixes.", metavar="[SESSION…]", show_default=False)
]
All = Annotated[bool, option("Every session that can be stopped; lists them and asks first.", "--all")]


@command(app)
def run(
    prompt: Prompt = "",
    project: Annotated[Path | None, option("Folder to work in (default: this one).", file_okay=False)] = None,
    mode: Mode = None,
    permission_mode: Permissions = None,
    model: Model = None,
    title: Annotated[str | None, option("Title of the session.")] = None,
    max_turns: Annotated[int | None, option("End after this number of turns.", min=1)] = None,
    tool: Annotated[list[str] | None, option("Tool of the agent that it may use; repeatable (default: all).")] = None,
    attach: Attach = None,
    shell: Annotated[bool, option("Start a shell instead of an agent (pty, tmux).", "--shell")] = False,
    worktree: Annotated[bool, option("Work in a new git worktree.", "--worktree")] = False,
    base: Annotated[str | None, option("Branch to create the worktree from (default: the current one).")] = None,
) -> Output:
    """Start a session in a trusted project."""
    body = without_empty(
        cwd=str((project or Path()).resolve()),
        mode=mode,
        prompt=_prompt_text(prompt),
        permission_mode=permission_mode,
        model=model,
        title=title,
        max_turns=max_turns,
        tools=tool,
        attachments=_blocks(attach),
        shell=shell,
        worktree=worktree,
        base=base,
    )
    return _started(client(SLOW_CALL_SECONDS).post("/api/v1/sessions", body))


@command(app)
def send(session: Session, prompt: Prompt, attach: Attach = None) -> Output:
    """Send a prompt to a session. The session may also run in a pane of your own tmux."""
    sent = _call(session, "messages", prompt=_prompt_text(prompt), attachments=_blocks(attach))
    return Output(sent, [f"Sent to {sent['session_id']}{queue_position(sent['ahead'])}."])


@command(app)
def interrupt(sessions: Sessions = None, all: All = False, yes: Yes = False) -> Output:
    """Interrupt the turns of sessions. Queued prompts follow."""
    if all or len(sessions or ()) != 1:
        return _stop_many(INTERRUPT, sessions, all, yes)
    found = _call((sessions or [""])[0], "interrupt")
    idle = f"Nothing to interrupt: {found['session_id']} is {state_label(read_view(SessionView, found)).word}"
    return Output(found, [f"Interrupted: {found['session_id']}" if found["interrupted"] else idle])


@command(app)
def end(sessions: Sessions = None, all: All = False, yes: Yes = False) -> Output:
    """End sessions, each with every process it started."""
    if all or len(sessions or ()) != 1:
        return _stop_many(END, sessions, all, yes)
    found = _call((sessions or [""])[0], "end")
    return Output(found, [f"Ended: {found['session_id']}"])


def _stop_many(words: StopWords, sessions: list[str] | None, is_all: bool, yes: bool) -> Output:
    """Stop several sessions. For all of them, list first what will stop, and ask."""
    if is_all == bool(sessions):
        raise Misused(f"qd {words.route}: name sessions, or use --all")
    api = client(SLOW_CALL_SECONDS)
    if is_all:
        plan = api.post(f"/api/v1/sessions/{words.route}", {"all": True, "dry_run": True})
        planned = read_view(StopResults, plan).sessions
        if not planned:
            return Output({"sessions": []}, [words.nothing])
        if not yes:
            for one in planned:
                out.print(cell(f"  {stop_line(one)}"))
        count = "1 session" if len(planned) == 1 else f"{len(planned)} sessions"
        confirm(f"{words.verb} {count}?", f"nothing was stopped; to {words.route} them: --yes", is_sure=yes)
        ids = [one.session_id for one in planned]
    else:
        ids = [full_session_id(api, one) for one in sessions or ()]
    found = api.post(f"/api/v1/sessions/{words.route}", {"session_ids": ids})
    results = read_view(StopResults, found).sessions
    lines = [stop_result_line(one, words) for one in results]
    return Output(found, lines, all(one.ok for one in results))


@command(app)
def resume(
    session: Session,
    prompt: Prompt = "",
    mode: ContinuedMode = None,
    permission_mode: Permissions = None,
    model: Model = None,
) -> Output:
    """Resume an ended session."""
    api = client(SLOW_CALL_SECONDS)
    body = without_empty(mode=mode, permission_mode=permission_mode, model=model, prompt=_prompt_text(prompt))
    return _started(api.post("/api/v1/sessions", {"resume": full_session_id(api, session), **body}))


@command(app)
def fork(
    session: Session,
    prompt: Prompt = "",
    at: Annotated[str | None, option("Message to fork from (default: the last).")] = None,
    mode: ContinuedMode = None,
    permission_mode: Permissions = None,
) -> Output:
    """Fork a session: continue its conversation under a new id. The original is kept."""
    fields = {"at": at, "mode": mode, "permission_mode": permission_mode}
    return _started(_call(session, "fork", prompt=_prompt_text(prompt), **fields))


@command(app)
def takeover(
    session: Session,
    prompt: Prompt = "",
    mode: Mode = None,
    permission_mode: Permissions = None,
    as_fork: Annotated[bool, option("Fork it instead; works while it still runs in its terminal.", "--fork")] = False,
) -> Output:
    """Take over a session that ended in your terminal."""
    fields = {"mode": mode, "permission_mode": permission_mode, "fork": as_fork}
    return _started(_call(session, "takeover", prompt=_prompt_text(prompt), **fields))


@command(app)
def switch(session: Session, mode: NewMode = None, permission_mode: Permissions = None, model: Model = None) -> Output:
    """Change the mode, model or permission mode of a session."""
    changes = without_empty(mode=mode, model=model, permission_mode=permission_mode)
    if not changes:
        raise typer.BadParameter("--mode, --model or --permission-mode required")
    changed = _call(session, "mode", **changes)
    return Output(changed, [f"{changed['session_id']}: {', '.join(changes.values())}"])


@command(app)
def attach(session: Session) -> None:
    """Attach to a session's terminal. Ctrl-] detaches; works for sessions that Quarterdeck started and those in your
    tmux."""
    with ends_with_terminal(sys.exit):
        attach_to(read_view(SessionView, _session(session)), endpoint, "cli", is_here=remote() is None)


@command(app, "give-back")
def give_back(session: Session) -> Output:
    """Print the command to continue a session in your terminal."""
    found = _session(session)
    return Output(found["resume"], _resume_lines(read_view(SessionView, found)))


def _resume_lines(session: SessionView) -> Iterator[str]:
    resume, session_id = session.resume, session.session_id
    if resume is None:
        raise QuarterdeckError(f"{session_id}: no command can resume it, as its id would be read as an option")
    if session.owned is not None and session.owned.status in ("starting", "up", "ending"):
        sys.stderr.write(f"The session is still running here; end it first: qd end {session_id}\n")
    yield f"cd {shlex.quote(resume.cwd)} && {resume.command}"


def queue_position(ahead: int) -> str:
    """The turns and prompts before a queued prompt, in words."""
    if not ahead:
        return ""
    others = f" and {ahead - 1} prompt{'' if ahead == 2 else 's'} before it" if ahead > 1 else ""
    return f"; it waits behind the running turn{others}"


def _session(session: str) -> Json:
    api = client()
    return api.get(f"/api/v1/sessions/{full_session_id(api, session)}")


def _call(session: str, route: str, **fields: Any) -> Json:
    """Send a command to a session; fields without a value are left out."""
    api = client(SLOW_CALL_SECONDS)
    return api.post(f"/api/v1/sessions/{full_session_id(api, session)}/{route}", without_empty(**fields))


def _started(started: Json) -> Output:
    session = read_view(SessionView, started)
    short = session.session_id[:8]
    watch = f"qd feed -f --session {short}" if session.mode == "sdk" else f"qd attach {short}"
    next_steps = cell(f"  watch: {watch}   send a prompt: qd send {short} …   end: qd end {short}", "dim")
    return Output(started, [f"Started {session.session_id} ({session.mode}) in {session.cwd}", next_steps])


def _prompt_text(prompt: str) -> str:
    return sys.stdin.read() if prompt == "-" else prompt


def _blocks(files: list[Path] | None) -> list[Json]:
    return [_block(path) for path in files or ()]


def _block(path: Path) -> Json:
    """A file as an attachment of a prompt."""
    data = path.read_bytes()
    if len(data) > MOST_BYTES:
        raise QuarterdeckError(f"{path}: larger than {MOST_BYTES // 2**20} MiB; mention its path in the prompt instead")
    kind = mimetypes.guess_type(path.name)[0] or ""
    if kind in IMAGES or kind == "application/pdf":
        source = {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode()}
        return {"type": "image" if kind in IMAGES else "document", "source": source}
    try:
        return {"type": "text", "text": f"{path.name}:\n{data.decode()}"}
    except UnicodeDecodeError:
        raise QuarterdeckError(f"{path}: not an image, a PDF or text; mention its path in the prompt instead") from None
