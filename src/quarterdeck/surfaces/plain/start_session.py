"""Start a session: its project, prompt and settings. The project config of a new folder is read out first."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.surfaces.plain.app import PlainApp
from quarterdeck.surfaces.plain.command_help import CommandEnded
from quarterdeck.surfaces.plain.request_numbers import read_number
from quarterdeck.surfaces.terminal.forms.project_choice import matching_projects, typed_folder
from quarterdeck.surfaces.terminal.lines.trust_lines import trust_lines
from quarterdeck.surfaces.terminal.session_actions import MODES, PERMISSION_MODES, session_label
from quarterdeck.views.resources.session_view import SessionView
from quarterdeck.views.workspace.project_view import ProjectList

Json = dict[str, Any]
MOST_OFFERED = 9
CHANGE_HINT = (
    "yes starts it. Or type prompt WORDS, "
    f"mode {'|'.join(MODES)}, permissions {'|'.join(PERMISSION_MODES)}, model NAME, worktree yes|no; cancel leaves it."
)


class SessionDraft(Struct, frozen=True):
    """The session to start."""

    cwd: str
    prompt: str = ""
    mode: str = MODES[0]
    permissions: str = PERMISSION_MODES[0]
    model: str = ""
    worktree: str = "no"

    @property
    def sentence(self) -> str:
        model = f", model {self.model}" if self.model else ""
        where = "a new git worktree of " if self.worktree == "yes" else ""
        prompt = f"with the prompt: {self.prompt}" if self.prompt else "without a prompt"
        return f"In {where}{self.cwd}, mode {self.mode}, permissions {self.permissions}{model}, {prompt}."

    @property
    def body(self) -> Json:
        body = {
            "cwd": self.cwd,
            "mode": self.mode,
            "permission_mode": self.permissions if self.permissions != "default" else "",
            "prompt": self.prompt,
            "model": self.model,
            "worktree": self.worktree == "yes",
        }
        return {name: value for name, value in body.items() if value}


CHOICES = {"mode": MODES, "permissions": PERMISSION_MODES, "worktree": ("yes", "no")}


def changed_draft(draft: SessionDraft, typed: str) -> SessionDraft | str:
    """The draft with the typed change; or the reason why there is none, in words."""
    name, _, value = typed.partition(" ")
    if name not in ("prompt", "mode", "permissions", "model", "worktree"):
        return f"Not understood: {name}"
    known = CHOICES.get(name)
    if known and value not in known:
        return f"The {name} is one of {', '.join(known)}"
    return replace(draft, **{name: value.strip()})


async def start(app: PlainApp, rest: str) -> None:
    """Start a session in a folder, or in a project that matches some words."""
    folder = typed_folder(rest) or await _prompt_project(app, rest)
    prompt = await app.ask(f"In {folder}. What is the prompt? An empty line means none yet.")

    async def describe(draft: SessionDraft) -> str:
        app.say(draft.sentence)
        return ""

    draft = await app.confirm(SessionDraft(folder, prompt), CHANGE_HINT, describe, changed_draft)
    await post_session(app, "/sessions", draft.body, folder)


async def _prompt_project(app: PlainApp, words: str) -> str:
    projects = matching_projects(read_view(ProjectList, await app.daemon.long_call("GET", "/projects")).projects, words)
    offered = projects[:MOST_OFFERED]
    for number, project in enumerate(offered, 1):
        trusted = "trusted" if project.trusted else "not trusted yet"
        app.say(f"{number}: {project.name}, {trusted}, {project.path}")
    if len(projects) > len(offered):
        app.say(f"And {len(projects) - len(offered)} more: start WORDS lists fewer.")
    numbers = f"A number from 1 to {len(offered)}, or a" if offered else "A"
    typed = await app.ask(f"Where? {numbers} folder that starts with / or ~/")
    if number_typed := read_number(typed, len(offered)):
        return offered[number_typed - 1].path
    if folder := typed_folder(typed):
        return folder
    raise CommandEnded("Nothing was started: that is neither a project nor a folder.")


async def post_session(app: PlainApp, path: str, body: Json, folder: str) -> None:
    """Send a request that starts a session, once its folder is trusted."""
    if not await _make_trusted(app, folder):
        raise CommandEnded("Not trusted, so nothing was started.")
    app.say("Starting …")
    started = await app.daemon.long_call("POST", path, body)
    app.model.add_sessions([started])
    session = read_view(SessionView, started)
    app.say(f"Started {session_label(session)} ({session.mode})")


async def _make_trusted(app: PlainApp, folder: str) -> bool:
    """True if the folder is trusted. If not, read out its project config and ask the person to trust it."""
    config = await app.daemon.long_call("GET", f"/projects/brings?{urlencode({'path': folder})}")
    if config["trusted"]:
        return True
    await app.read_out(trust_lines(config))
    if not await app.is_sure(f"Trust {config['path']}?"):
        return False
    await app.daemon.post("/projects/trust", {"path": config["path"]})
    return True
