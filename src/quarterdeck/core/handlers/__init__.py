"""Handlers: what each kind of input leads to.

hooks              the hooks of agents
requests           opening a request, and resolving it elsewhere
pending_release    after a restart, a stop, a deadline or with nobody watching: releases pending requests
decisions          a person's decision
rules              adding, removing and remembering rules
escalation         notifying about requests that wait, and ending them
session_commands   commands to owned sessions
session_lifecycle  the start and end of owned sessions
processes          what the process table proves
transcripts        messages and usage from a transcript
deck               the keys of a deck, and the terminals of editors
admin              tokens, settings, extensions, the log
"""
