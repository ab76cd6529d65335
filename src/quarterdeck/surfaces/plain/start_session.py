"""Starting a session: in which project, how, with which prompt; what a folder brings is read out before."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.surfaces.plain.app import YES, Plain
from quarterdeck.surfaces.plain.request_numbers import read_number
from quarterdeck.surfaces.terminal.session_actions import MODES, PERMISSION_MODES, called
from quarterdeck.surfaces.tui.dialogs.manage.start_session import fitting, typed_folder
from quarterdeck.surfaces.tui.dialogs.manage.trust import trust_lines

Json = dict[str, Any]
FEW = 9
MAY_CHANGE = (
    "yes starts it. Or type prompt WORDS, "
    f"mode {'|'.join(MODES)}, permissions {'|'.join(PERMISSION_MODES)}, model NAME, worktree yes|no; cancel leaves it."
)


class Wanted(Struct, frozen=True):
    """The session that shall be started."""

    cwd: str
    prompt: str = ""
    mode: str = MODES[0]
    permissions: str = PERMISSION_MODES[0]
    model: str = ""
    worktree: str = "no"

    @property
    def said(self) -> str:
        model = f", model {self.model}" if self.model else ""
        where = "a new git worktree of " if self.worktree == "yes" else ""
        prompt = f"with the prompt: {self.prompt}" if self.prompt else "without a prompt"
        return f"In {where}{self.cwd}, mode {self.mode}, permissions {self.permissions}{model}, {prompt}."

    @property
    def body(self) -> Json:
        body = {
            "cwd": self.cwd,
            "mode": self.mode,
            "permission_mode": None if self.permissions == "default" else self.permissions,
            "prompt": self.prompt or None,
            "model": self.model or None,
            "worktree": True if self.worktree == "yes" else None,
        }
        return {name: value for name, value in body.items() if value is not None}


CHOICES = {"mode": MODES, "permissions": PERMISSION_MODES, "worktree": ("yes", "no")}


def changed(wanted: Wanted, typed: str) -> Wanted | str:
    """What shall be started after what was typed; or why that changes nothing, in words."""
    name, _, value = typed.partition(" ")
    if name not in ("prompt", "mode", "permissions", "model", "worktree"):
        return f"Not understood: {name}"
    known = CHOICES.get(name)
    if known and value not in known:
        return f"{name} is one of {', '.join(known)}"
    return replace(wanted, **{name: value.strip()})


class Starting:
    """Asks for what is needed, then starts."""

    def __init__(self, face: Plain) -> None:
        self._face = face

    async def start(self, rest: str) -> None:
        """In a project that fits some words, or in a folder."""
        folder = typed_folder(rest) or await self._project(rest)
        if folder is None:
            return
        wanted = Wanted(folder, await self._face.ask(f"In {folder}. What is it told? An empty line for nothing yet."))
        while True:
            self._face.say(wanted.said)
            typed = await self._face.ask(MAY_CHANGE)
            if typed.lower() in YES:
                await self.post("/sessions", wanted.body, {"cwd": wanted.cwd})
                return
            found = changed(wanted, typed)
            if isinstance(found, str):
                self._face.say(found)
            else:
                wanted = found

    async def _project(self, words: str) -> str | None:
        found = fitting((await self._face.talk.slowly("GET", "/projects"))["projects"], words)
        for number, project in enumerate(found[:FEW], 1):
            trusted = "trusted" if project["trusted"] else "not trusted yet"
            self._face.say(f"{number}: {project['name']}, {trusted}, {project['path']}")
        if len(found) > FEW:
            self._face.say(f"And {len(found) - FEW} more: start WORDS names fewer.")
        few = f"a number from 1 to {min(len(found), FEW)}, or " if found else ""
        typed = await self._face.ask(f"Where? {few}a folder, from / or ~/")
        if place := read_number(typed, min(len(found), FEW)):
            return str(found[place - 1]["path"])
        folder = typed_folder(typed)
        if folder is None:
            self._face.say("Nothing was started: that names no project and no folder.")
        return folder

    async def post(self, path: str, body: Json, session: Json) -> None:
        """Have it started where the folder is trusted, and say so."""
        if not await self._is_trusted(session["cwd"]):
            self._face.say("Not trusted, so nothing was started.")
            return
        self._face.say("Starting …")
        started = await self._face.talk.slowly("POST", path, body)
        self._face.model.listed([started])
        self._face.say(f"Started {called(started)} ({started['mode']})")

    async def _is_trusted(self, folder: str) -> bool:
        """Whether a folder is trusted, after the person has heard all it brings where it is not."""
        talk = self._face.talk
        brings = await talk.slowly("GET", f"/projects/brings?{urlencode({'path': folder})}")
        if brings["trusted"]:
            return True
        await self._face.read_out(trust_lines(brings))
        if not await self._face.is_sure(f"Trust {brings['path']}?"):
            return False
        await talk.post("/projects/trust", {"path": brings["path"]})
        return True
