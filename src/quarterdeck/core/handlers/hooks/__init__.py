"""Hooks: what each call of an agent means in the feed.

dispatch        the entry, and the table of all hooks
session_hooks   sessions, prompts, stops, sub-agents
tool_hooks      tool calls, permission requests, forms
notice_hooks    hooks that only report something
hold_policy     when a request is held for a person
enforce_gate    the rules, before a tool call runs
todos           the agent's to-do list
"""
