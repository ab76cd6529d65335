"""Claude Code on this machine: its program, its files and its Agent SDK."""
