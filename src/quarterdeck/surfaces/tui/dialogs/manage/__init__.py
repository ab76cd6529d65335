"""Dialogs about sessions, rules, trust and servers.

command_dialog    the base of dialogs that send a command to the daemon
start_session     start a session in a project
session           write a prompt, continue a conversation, change mode or model
stop_dialog       stop everything
trust             trust a folder
rules             make a rule, explain a decision, confirm a removal
mcp_server        add an MCP server
marketplace       add a marketplace
"""
