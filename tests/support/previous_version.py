"""The previous version of Quarterdeck: its own code from an archive, and what it wrote and answered.

`python -m tests.support.previous_version` writes `tests/recordings/previous_version` again; see the README there.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import quarterdeck
from tests.support.daemon import Daemon, Json, until

FOLDER = Path(__file__).parents[1] / "recordings" / "previous_version"
ARCHIVE = FOLDER / "quarterdeck-0.1.0.tar.xz"
HOMES = ("home", "trimmed")
NO_CLAUDE = "/nowhere/claude"

BEGAN, ENDED = 1_767_603_600.0, 1_780_000_000.0
"""Before the first and after the last time in the recorded homes: any later one is of the start that is compared."""
FAR = 4_000_000_000.0
"""Times beyond this are deadlines that the recording set."""
LATER = "since the start"
MISSING = "missing"

WORDS = frozenset({"error", "failure", "last_words", "message", "missing", "reason"})
"""What a start says in prose about what it found."""

REWORDED = (
    (re.compile(r"^! Nobody answers: told "), "! Unanswered: notified "),
    (re.compile(r"^✕ Nobody could be told by (\w+):"), r"✕ \1 could not notify you:"),
    (re.compile(r"^! Otherwise than decided:"), "! Overridden:"),
    (re.compile(r"^(Σ .*); not all is known$"), r"\1; some usage is missing"),
    (re.compile(r"^(– Ended by .*), to go on in "), r"\1, to continue in "),
    (re.compile(r"^○ Goes on after /clear "), "○ Continues after /clear "),
    (re.compile(r"^runs a program that is not in our list "), "runs a program Quarterdeck does not know "),
    (re.compile(r"^⚠ Plan to approve$"), "⚠ Plan to approve: 1. Drain"),
    (re.compile(r"^as it was asked; the file is not looked into$"), "as requested; the file was not read"),
    (re.compile(r"^the transcript has no usable path$"), "the transcript path is missing or invalid"),
    (re.compile(r"^→ Sent op1$"), "→ Sent op1 from the deck"),
)
"""Texts that are made again (titles, risk reasons, notes, what a transcript lacks), as the previous version worded
them and as they are now."""


def unpack(folder: Path) -> Path:
    """The previous version's code; gives the folder to put on PYTHONPATH."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


class Install:
    """A folder that a daemon runs from. First the previous version is in it, and after `upgrade` the current one: the
    previous one's files are gone, and processes that it started still run."""

    def __init__(self, folder: Path) -> None:
        self.folder = unpack(folder)
        self.package = folder / "quarterdeck"

    def upgrade(self) -> None:
        shutil.rmtree(self.package)
        shutil.copytree(Path(quarterdeck.__file__).parent, self.package)


def copy_home(name: str, folder: Path) -> Path:
    """A copy of a recorded home, as private as a real one."""
    home = folder / name
    shutil.copytree(FOLDER / name, home)
    for path in (home, *home.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return home


def daemon_in(home: Path, pythonpath: Path | None = None) -> Daemon:
    """A daemon in a copy of a recorded home, without Claude Code and with nothing of this machine's user in reach."""
    env = {"HOME": str(home.parent), "QUARTERDECK_CLAUDE_PATH": NO_CLAUDE}
    return Daemon(home, env=env | ({"PYTHONPATH": str(pythonpath)} if pythonpath else {}))


def events_of_start(daemon: Daemon, last: int) -> list[Json]:
    """What a start adds to the log, each once and in a fixed order, without its prose."""
    found = [
        {"session_id": e["session_id"], "kind": e["kind"]}
        | {"data": {key: value for key, value in e["data"].items() if key not in WORDS}}
        for e in daemon.events()
        if e["seq_no"] > last
    ]
    return [json.loads(one) for one in sorted({json.dumps(event, sort_keys=True) for event in found})]


def answers(daemon: Daemon, last: int) -> dict[str, Any]:
    """The API's answers about everything that is in the log up to `last`."""
    ids = {name: _ids(daemon, name) for name in ("sessions", "requests")}
    paths = [
        "/sessions?limit=1000",
        *(f"/sessions/{session_id}" for session_id in ids["sessions"]),
        "/requests?limit=1000",
        "/requests?status=expired&limit=1",
        *(f"/requests/{request_id}" for request_id in ids["requests"]),
        "/rules",
        "/tokens",
        f"/audit?before={last + 1}&after=0&limit=1000",
        f"/audit?before={last + 1}&limit=5",
        *(f"/feed?after={after}&before={last + 1}&limit=100" for after in range(0, last, 100)),
        f"/feed?before={last + 1}&limit=3",
        f"/feed?before={last + 1}&after=0&limit=1000&session_id=a1&kind=permission.decision",
        f"/feed?before={last + 1}&after=0&limit=1000&q=login",
        f"/feed?before={last + 1}&after=0&limit=1000&tool=Bash&actor_id=subagent:sub2",
    ]
    return {path: stable(_get(daemon, path)) for path in paths}


def _ids(daemon: Daemon, name: str) -> list[str]:
    return sorted(one[f"{name.removesuffix('s')}_id"] for one in _get(daemon, f"/{name}?limit=1000")[name])


def _get(daemon: Daemon, path: str) -> Any:
    status, answer = daemon.api("GET", path)
    assert status == 200, (path, answer)
    return answer


def stable(value: Any, key: str = "") -> Any:
    """An answer without what depends on when it was asked for: times since the start, and the age of a request that
    the start ended."""
    if isinstance(value, dict):
        return {name: stable(below, name) for name, below in value.items()}
    if isinstance(value, list):
        return [stable(below) for below in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        since_start = ENDED < value < FAR or (key == "age_seconds" and value > ENDED - BEGAN)
        return LATER if since_start else value
    return value


def in_present_words(answer: Any, key: str = "") -> Any:
    """A recorded answer with its titles, reasons, notes and missing parts in the words of the current version."""
    if isinstance(answer, dict):
        if answer.get("request_id") == SDK_REQUEST and answer.get("reason"):
            answer = {**answer, "reason": answer["reason"].removesuffix(": answer at the terminal")}
        elif answer.get("request_id") == GATED_REQUEST and isinstance(answer.get("decision"), dict):
            message = answer["decision"]["message"].replace(": answer at the terminal", "")
            answer = {**answer, "decision": {**answer["decision"], "message": message}}
        return {name: in_present_words(below, name) for name, below in answer.items()}
    if key == "findings" and answer == []:
        return [HUB_RULE]
    if isinstance(answer, list):
        return [in_present_words(below, key) for below in answer]
    if key in ("title", "reasons", "notes", "missing") and isinstance(answer, str):
        for pattern, words in REWORDED:
            answer = pattern.sub(words, answer)
    return answer


SDK_REQUEST = "p_sdk"
"""A request of a session over the SDK: it has no terminal, and is no longer sent to one."""

GATED_REQUEST = "p_gate"
"""A request that the gate blocked at a restart: there is no dialog at a terminal to answer."""

HUB_RULE = "allow Bash(tool-hub-allow:*) (hub) never matches: this machine has joined no hub"
"""A rule of the recorded homes that was no problem to the previous version."""

ADDED = frozenset(
    {
        "actions",
        "agent",
        "colours",
        "deck",
        "decisions",
        "details",
        "fork_at",
        "forked_from",
        "glyph",
        "hides",
        "holder",
        "hook_at",
        "hooks_lost_at",
        "label",
        "last_error",
        "retrying",
        "needs_second_key",
        "outcome",
        "partial",
        "previous",
        "priority",
        "runner_id",
        "scope_id",
        "tool_kind",
        "tool_risk",
    }
)
"""Fields that the previous version did not have."""


def differences(given: Any, wanted: Any, place: str = "") -> list[str]:
    """Each place where two JSON values differ, with both values. A field that is new is no difference, nor is
    one more reason for a risk."""
    if isinstance(given, dict) and isinstance(wanted, dict):
        names = [*wanted, *(name for name in given if name not in wanted and name not in ADDED)]
        pairs = [(f"{place}.{name}", given.get(name, MISSING), wanted.get(name, MISSING)) for name in names]
    elif place.endswith(".reasons") and given is not MISSING and wanted is not MISSING:
        return [] if set(given) >= set(wanted) else [f"{place}: is {given!r}, was {wanted!r}"]
    elif isinstance(given, list) and isinstance(wanted, list) and len(given) == len(wanted):
        pairs = [(f"{place}[{n}]", one, other) for n, (one, other) in enumerate(zip(given, wanted, strict=True))]
    else:
        return [] if given == wanted else [f"{place}: is {given!r}, was {wanted!r}"]
    return [line for where, one, other in pairs for line in differences(one, other, where)]


def last_of(name: str) -> int:
    """The last event of a recorded home."""
    recorded = json.loads((FOLDER / "states.json").read_text())
    return int(recorded[name]["state"]["seq_no"])


def record(folder: Path) -> None:
    """Have the previous version write its homes, start in each of them, and answer."""
    code = unpack(folder / "code")
    script = [sys.executable, str(code / "write_home.py"), str(folder / "written")]
    subprocess.run(script, env={"PYTHONPATH": str(code)}, check=True)
    for name in HOMES:
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        shutil.copytree(folder / "written" / name, FOLDER / name, ignore=shutil.ignore_patterns("*-wal", "*-shm"))
    shutil.copy(folder / "written" / "states.json", FOLDER)
    recorded = {}
    for name in HOMES:
        with daemon_in(copy_home(name, folder), code) as daemon:
            before: list[Json] = [{}]
            until(partial(_rests, daemon, last_of(name), before), 60, every=3.0)
            recorded[name] = {
                "events_of_start": events_of_start(daemon, last_of(name)),
                "answers": answers(daemon, last_of(name)),
            }
    written = json.dumps(recorded, indent=0, sort_keys=True, ensure_ascii=False)
    (FOLDER / "answers.json").write_text(written + "\n")


def _rests(daemon: Daemon, last: int, before: list[Json]) -> bool:
    """Whether nothing was added since this was asked before."""
    found = events_of_start(daemon, last)
    rests, before[:] = found == before, found
    return rests


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="qd-previous-") as scratch:
        record(Path(scratch))
