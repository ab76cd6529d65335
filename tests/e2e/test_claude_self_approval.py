"""An agent in an owned session tries to change the rules through processes that are hard to trace back to it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.claude import require
from tests.support.daemon import until
from tests.support.owned_claude import Owner

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux"), pytest.mark.law("D14")]

PYTHON, TMUX = "/usr/bin/python3", shutil.which("tmux") or "tmux"
MODES = ("sdk", "pty", "tmux")
TRICKS = {
    "an orphan with a cleared environment": "(setsid env -i {it} &) ; true",
    "an orphan in its own terminal session": "(env -i {it} &) ; true",
    "a tmux server of its own": "env -i {tmux} -L own-{mode} new-session -d {it}",
    "the tmux server of owned sessions": "env -i {tmux} -S {socket} new-session -d {it}",
    "a command of the tmux server of owned sessions": "env -i {tmux} -S {socket} run-shell -b 'exec {it}'",
}


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    with Owner(tmp_path_factory.mktemp("owner"), require("2.1.325")) as owner:
        owner.starts("tmux", shell=True)  # so that there is a tmux server
        yield owner
        for server in (["-S", str(socket_of(owner))], *(["-L", f"own-{mode}"] for mode in MODES)):
            subprocess.run([TMUX, *server, "kill-server"], capture_output=True, env={}, timeout=60)
        owner.daemon.stop()


def socket_of(owner: Owner) -> Path:
    return owner.daemon.home / "run" / "sessions" / "tmux"


@pytest.fixture(autouse=True)
def _nothing_stays() -> None:
    """Sessions stay until the end of the module."""


def attempt(owner: Owner, name: str) -> str:
    """A program that waits for the end of the turn, tries to allow everything, and writes the answer."""
    script, answer_file = owner.path(f"{name}.py"), owner.path(f"{name}.answer_file")
    script.write_text(
        f"""import http.client, os, time
while not os.path.exists({str(owner.path(f"{name}.over"))!r}):
    time.sleep(0.02)
there = http.client.HTTPConnection("127.0.0.1", {owner.daemon.port})
headers = {{"Authorization": "Bearer {owner.daemon.token}", "Content-Type": "application/json"}}
there.request("POST", "/api/v1/rules", '{{"effect": "allow", "pattern": "Bash", "scope": "user"}}', headers)
answer = there.getresponse()
with open({str(answer_file) + ".new"!r}, "w") as file:
    file.write(f"{{answer.status}} {{answer.read().decode()}}")
os.rename({str(answer_file) + ".new"!r}, {str(answer_file)!r})
"""
    )
    return f"{PYTHON} {script}"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("trick", TRICKS)
def test_an_owned_session_cannot_make_rules_through(owner: Owner, mode: str, trick: str) -> None:
    name = f"{mode}-{list(TRICKS).index(trick)}"
    it = attempt(owner, name)
    command = TRICKS[trick].format(it=it, tmux=TMUX, socket=socket_of(owner), mode=mode)
    session = owner.starts(mode, permission_mode="default", prompt=owner.script_bash(command))
    owner.decide(owner.request_to_run(command), "allow")
    owner.session(session["session_id"], "settled")
    owner.path(f"{name}.over").touch()
    answer_file = owner.path(f"{name}.answer_file")
    until(answer_file.exists, what="its answer")
    owner.command(session, "end")
    assert answer_file.read_text().startswith("403 ")
    assert "agent_may_not_decide" in answer_file.read_text()
    assert owner.daemon.api("GET", "/rules")[1]["rules"] == []
