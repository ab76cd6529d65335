"""The data of each kind of feed event: one struct per kind, open to what real agents send.

base                 the root of all event data
session_data         sessions, runs, prompts, messages, usage
owned_session_data   commands to owned sessions, and their outcome
tool_data            tool calls, sub-agents, to-dos
request_data         requests, decisions, stops
notice_data          reports: notifications, compactions, changed files, worktrees
deck_data            the key deck: what is armed, chosen and sent, and the terminals of editors
admin_data           rules, trust, plugins, MCP servers, tokens, settings, the log
"""
