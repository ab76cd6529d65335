"""Screens about projects, worktrees, plugins and MCP servers.

projects         the projects of this machine
worktree         the changes in a session's worktree
plugins          Claude Code's plugins
marketplaces     where plugins come from
mcp              MCP servers of Claude Code
"""
