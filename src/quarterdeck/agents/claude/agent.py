"""Claude Code behind the protocol of an agent."""

from __future__ import annotations

from quarterdeck.agents.base import Agent
from quarterdeck.agents.claude.composer import composer_text, is_folded, shows_only
from quarterdeck.agents.claude.hooks import HOOKS, SUPPORTED, read_hook, write_answer
from quarterdeck.agents.claude.launch_args import resume_command, terminal_arguments
from quarterdeck.agents.claude.permission_suggestions import read_suggestions
from quarterdeck.agents.claude.tools import tool_traits
from quarterdeck.agents.claude.transcripts.transcript import read_summary, transcript_reader
from quarterdeck.core.model.decisions import PERMISSION_MODES
from quarterdeck.core.model.state import Capabilities

CLAUDE = Agent(
    name="claude",
    telemetry_name="claude-code",
    provider="anthropic",
    supported=SUPPORTED,
    capabilities=Capabilities(label="Claude Code", modes=("sdk", "tmux", "pty"), permission_modes=PERMISSION_MODES),
    hooks=HOOKS,
    tool_traits=tool_traits,
    read_event=read_hook,
    write_answer=write_answer,
    transcript_reader=transcript_reader,
    read_summary=read_summary,
    terminal_arguments=terminal_arguments,
    resume_command=resume_command,
    permission_suggestions=read_suggestions,
    composer_text=composer_text,
    is_folded=is_folded,
    shows_only=shows_only,
    project_folder=".claude",
    status_folder="sessions",
    variables=(
        *("ANTHROPIC_*", "CLAUDE_*", "AWS_*", "GOOGLE_*", "CLOUD_ML_*", "VERTEX_*"),
        *("OTEL_*", "NODE_*", "BASH_ENV"),
    ),
    session_variables=(
        *("CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_SESSION_*"),
        *("CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_*", "CLAUDE_ENV_FILE"),
    ),
)
