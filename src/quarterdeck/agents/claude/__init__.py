"""Claude Code on the wire."""
