"""The protocol of an agent's extensions."""

from __future__ import annotations

from quarterdeck.drivers.claude.extensions import ClaudeExtensions
from quarterdeck.drivers.extensions import Extensions


def test_claude_code_has_every_call() -> None:
    calls = {name for name in vars(Extensions) if not name.startswith("_")}
    assert calls
    assert calls <= set(dir(ClaudeExtensions))
