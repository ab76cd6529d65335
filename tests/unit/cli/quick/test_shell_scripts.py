"""The completion scripts; what they do in their shells is in tests/contract/test_completion.py."""

from __future__ import annotations

import pytest

from quarterdeck.cli.quick.shell_scripts import SCRIPTS, SHELLS


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_says_how_to_install_it_and_completes_both_names(shell: str) -> None:
    script = SCRIPTS[shell]
    assert f"qd completion {shell}" in script
    assert "__complete" in script
    assert "quarterdeck" in script
