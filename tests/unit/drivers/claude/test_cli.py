"""Running the claude program: argv alone, and an environment without secrets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from quarterdeck.drivers.claude.cli import ClaudeCli, find_claude
from quarterdeck.errors import QuarterdeckError, Refused

SPY = """#!{python}
import json, os, sys
print(json.dumps({{"argv": sys.argv[1:], "env": dict(os.environ), "open": sorted(map(int, os.listdir("/dev/fd")))}}))
"""


@pytest.fixture
def spy(tmp_path: Path) -> ClaudeCli:
    program = tmp_path / "claude"
    program.write_text(SPY.format(python=sys.executable))
    program.chmod(0o755)
    return ClaudeCli(program, tmp_path)


@pytest.mark.law("I9")
def test_no_shell_reads_the_arguments_and_no_secret_is_passed_on(
    spy: ClaudeCli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for secret in ("QUARTERDECK_TOKEN", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "CLAUDE_CODE_MESSAGING_TOKEN"):
        monkeypatch.setenv(secret, "secret")
    with (tmp_path / "held").open("w"):
        seen = json.loads(spy.run(tmp_path, "plugin", "list; touch pwned", "$(touch pwned)", "--json"))
    assert seen["argv"] == ["plugin", "list; touch pwned", "$(touch pwned)", "--json"]
    assert not (tmp_path / "pwned").exists()
    assert "secret" not in seen["env"].values()
    assert len(seen["open"]) <= 4


def test_a_program_that_fails_is_named_with_its_last_words(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho first >&2\necho last words >&2\nexit 1\n")
    program.chmod(0o755)
    failing = ClaudeCli(program, tmp_path)
    for words, named in (("x", "x"), ("plugin list --json", "plugin list"), ("--version", "--version")):
        with pytest.raises(Refused, match=f"claude {named}: last words$"):
            failing.run(tmp_path, *words.split())


def test_a_configured_path_must_be_a_program(tmp_path: Path) -> None:
    with pytest.raises(QuarterdeckError, match=r"claude\.path"):
        find_claude(str(tmp_path / "none"))
