"""schemathesis against the live daemon: every operation, what its schema allows and what it does not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.daemon import Daemon

CONFIG = Path(__file__).parents[1] / "support" / "schemathesis.toml"
EXAMPLES = os.environ.get("QD_SCHEMATHESIS", "25")
SEED = ["--seed", "1"] if os.environ.get("QD_HYPOTHESIS", "everyday") == "everyday" else []
SCHEMATHESIS = str(Path(sys.executable).with_name("schemathesis"))
PHASES = "examples,coverage,fuzzing"


def shortened(output: str) -> str:
    """A report without the bulk of a long body, so that the check that failed is still to be seen."""
    return "\n".join(line if len(line) < 500 else f"{line[:400]} … {line[-80:]}" for line in output.splitlines())


@pytest.mark.law("I2")
@pytest.mark.law("I4")
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("scope", ["owner", "observe"])
def test_schemathesis_finds_nothing(tmp_path: Path, scope: str) -> None:
    with Daemon(
        tmp_path / "home",
        env={"QUARTERDECK_DECIDE_HOLD": "always", "QUARTERDECK_CLAUDE_PATH": shutil.which("false") or ""},
    ) as daemon:
        for n in range(3):
            daemon.hook({"session_id": f"s{n}", "hook_event_name": "UserPromptSubmit", "prompt": "go", "cwd": "/w"})
        token = daemon.token
        if scope != "owner":
            made = daemon.api("POST", "/tokens", {"name": "reader", "scopes": [scope]})
            token = made[1]["token"]
        command = [SCHEMATHESIS, "--config-file", str(CONFIG), "run"]
        command += [f"http://127.0.0.1:{daemon.port}/api/v1/openapi.json", "--header", f"Authorization: Bearer {token}"]
        command += ["--max-examples", EXAMPLES, "--phases", PHASES, "--no-color", *SEED]
        command += ["--generation-database", "none"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert daemon.api("GET", "/me")[0] == 200
    output = done.stdout + done.stderr
    assert done.returncode == 0, shortened(output)
    generated = re.search(r"(\d+) generated", output)
    assert generated is not None
    assert int(generated[1]) > 100
