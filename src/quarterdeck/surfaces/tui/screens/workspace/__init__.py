"""Screens about projects, worktrees, plugins and MCP servers."""
