"""Shared by the terminal UI and plain mode: state, text and actions.

actions          send decisions, find a session, merge or discard a worktree
text_commands    commands by name: the `:` line, the palette, the help
forms            what a person types: answers, inputs, rules, folders
lines            pages and notes as styled lines
live_text        text that SDK sessions are streaming
model            the state of a surface
request_card     a request as a card
request_item     a request with its details, and what was seen of it
session_actions  the session commands: keys, words, and what fits a session
session_names    short distinct names of sessions
styled_text      spans, lines and rows of text
usage_totals     sums of tokens and costs, and charts of them
"""
