"""Answers without Typer: the help of `qd`, its version, and completion. Standard library only.

command_index      every command with its options, read from commands.json, which `make docs` writes
completion         the words that may follow on a command line
completion_names   names of sessions, requests, rules and tokens, from the running daemon
root_help          the help of `qd`
shell_scripts      the completion scripts of bash, zsh and fish"""
