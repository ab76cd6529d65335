"""Projects, worktrees and extensions: types, and readers for what git prints.

projects          a project, its git facts, its past sessions, the scan
folder_trust      the trust in a folder, and what each use of it needs
project_config    the hooks, servers and settings that a repository carries
worktrees         a session's worktree and its changes
worktree_output   what git prints of worktrees
git_output        what git prints of a repository
extensions        plugins, marketplaces, MCP servers
"""
