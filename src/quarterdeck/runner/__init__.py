"""What this machine has: projects, and Claude Code's plugins and servers."""
