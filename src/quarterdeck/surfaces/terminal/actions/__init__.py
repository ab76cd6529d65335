"""Calls of terminal surfaces to the daemon.

send_decision     sends decisions and reports how they ended
session_lookup    finds the session that a person means
stop_actions      stops several sessions, or all
worktree_actions  merges or discards a session's worktree
"""
