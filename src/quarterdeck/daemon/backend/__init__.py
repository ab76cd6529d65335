"""The API's backend on one machine.

backend       the whole backend; health, feed, extensions and tokens
requests      requests, and decisions on them
rules         rules: made, explained, simulated, suggested
sessions      known sessions, session commands and terminals
worktrees     worktrees of owned sessions
projects      projects with their trust, config and sessions
key_deck      the key deck: its layout, its model, and what it sends
risk          the risk of every request, plug-ins included
risk_plugins  risk plug-ins of other packages
current_file  the file of an edit as it is now
stats         the numbers of `GET /stats`
"""
