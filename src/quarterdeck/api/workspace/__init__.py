"""REST routes of what surrounds a session.

mcp         MCP servers
plugins     plugins and marketplaces
projects    projects, their own config, scans and trust
worktrees   worktrees of owned sessions"""
