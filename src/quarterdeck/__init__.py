"""Mission control for coding agents.

__main__     python -m quarterdeck
agents       reads and writes what each agent says on its wire; pure
api          the HTTP API and WebSocket that every surface uses
cli          the `quarterdeck` and `qd` commands
config       settings: config.yaml, environment variables, flags
core         decides everything; pure
daemon       one machine: the loop, hook intake, sessions, notifications
drivers      the I/O of each agent
errors       exceptions that a user can act on
hook         the command hook that Claude Code runs; standard library only
hook_loader  runs the hook from its compiled copy in the home
hub          many machines: their connections, and the store and API for all of them
link         the protocol between a runner and a hub; pure
projects     this machine's projects: scanning, git, worktrees, watching
sessions     runs agents in a pty or in tmux
store        the append-only log in SQLite, and what is kept beside it
surfaces     what people use: terminal UI, plain mode, web page, and their client
system       processes, sockets, programs and files of the operating system
views        what every surface is shown, made from the state; pure
wire         JSON in and out, with every limit
"""

__version__ = "0.2.0"
