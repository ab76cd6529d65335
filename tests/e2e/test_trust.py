"""Trusting a project on a terminal."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.support.daemon import Daemon
from tests.support.tmux import Pane

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]


@pytest.mark.law("S9")
def test_trust_is_asked_for_after_the_project_config_was_shown(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    (folder / ".claude").mkdir(parents=True)
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "touch ran"}]}]}
    (folder / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    with Daemon(tmp_path / "home") as daemon:
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
        env["QUARTERDECK_HOME"] = str(daemon.home)
        command = [sys.executable, "-m", "quarterdeck", "projects", "trust", str(folder)]
        for answer, trusted in (("n", False), ("y", True)):
            with Pane(command, env, cwd=tmp_path) as pane:
                pane.wait_for("[y/N]")
                assert "Stop: touch ran" in pane.screen()
                pane.keys(answer, "Enter")
                pane.wait_for_end()
            assert daemon.api("GET", f"/projects/brings?path={folder}")[1]["trusted"] is trusted
        with Pane([*command, "--yes"], env, cwd=tmp_path) as pane:
            pane.wait_for("Trusted:")
    assert not (folder / "ran").exists()
