"""Typed text read as values: answers, inputs, rules, servers and folders. No I/O.

answers         answers to questions, values of form fields, modes of a plan
deck_panel      the key deck as lines, and what a typed key sends
mcp_form        an MCP server that is added
project_choice  the project or folder that a typed text means
rule_form       the choices of a rule form, and a rule in words
tool_input      a tool's input as editable text, and read back
"""
