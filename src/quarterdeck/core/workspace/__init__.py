"""Projects, worktrees and extensions: types, and readers for what git prints."""
