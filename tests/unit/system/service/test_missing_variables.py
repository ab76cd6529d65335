"""The variables that a shell has and the service lacks."""

from __future__ import annotations

import os

from quarterdeck.agents.registry import AGENTS
from quarterdeck.system.service.missing_variables import environment_of, missing_names

COUNTS = [name for agent in AGENTS.values() for name in agent.variables]
OWN = [name for agent in AGENTS.values() for name in agent.session_variables]


def test_only_variables_that_count_are_named() -> None:
    shell = {"ANTHROPIC_API_KEY": "k", "https_proxy": "p", "QUARTERDECK_PORT": "1", "LS_COLORS": "x", "CLAUDE_X": ""}
    assert missing_names(shell, {}, COUNTS, OWN) == ["ANTHROPIC_API_KEY", "QUARTERDECK_PORT", "https_proxy"]
    assert missing_names(shell, dict.fromkeys(shell, "other"), COUNTS, OWN) == []


def test_what_a_session_sets_for_itself_is_not_named() -> None:
    inside = {"CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_SESSION_ID": "s", "QUARTERDECK_TAG": "t"}
    assert missing_names(inside, {}, COUNTS, OWN) == []


def test_a_path_is_named_when_the_service_lacks_a_folder_of_it() -> None:
    assert missing_names({"PATH": "/a:/b"}, {"PATH": "/a"}) == ["PATH"]
    assert missing_names({"PATH": "/a"}, {"PATH": "/b:/a"}) == []


def test_the_environment_of_a_process_is_the_one_it_was_started_with() -> None:
    found = environment_of(os.getpid())
    assert found is not None
    assert found["PATH"] == os.environ["PATH"]
    assert environment_of(2**22 + 1) is None
