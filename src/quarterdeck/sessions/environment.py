"""What an agent that we start sees of our environment: all of the person's own, nothing of ours."""

from __future__ import annotations

from collections.abc import Mapping

OURS = "QUARTERDECK_"
TAG = "QUARTERDECK_TAG"
OF_ANOTHER_AGENT = frozenset({"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"})
"""What an agent gives its own children: the daemon may have been started from within one."""


def agent_environment(environ: Mapping[str, str], tag: str) -> dict[str, str]:
    """The environment for a session of ours; its hooks carry the tag."""
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith(OURS) and name not in OF_ANOTHER_AGENT and "MESSAGING_TOKEN" not in name
    }
    return {**kept, TAG: tag}
