"""What surrounds a session: a struct for each, with the function that builds it.

plugin_view    plugins and marketplaces
project_view   projects, their scan, their own config and trust
server_view    MCP servers
worktree_view  worktrees of owned sessions
"""
