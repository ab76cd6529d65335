"""`make docs`: the generated blocks of the pages in docs/, and the examples of the API.

pages       the pages, their blocks and the markers around them
commands    docs/cli.md: every command, from the CLI's own help
examples    src/quarterdeck/api/examples.json: recorded from a daemon
events      docs/feed.md and docs/hooks.md: event kinds and Claude Code's hooks
keys        docs/tui.md: keys and commands of the terminal UI
operations  docs/api.md: the commands of the WebSocket
settings    docs/settings.md: every setting
tree        docs/architecture.md: the packages, from their docstrings
tables      Markdown tables
"""
