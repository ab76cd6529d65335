"""Sessions in tmux, and agents in the person's own tmux.

command          the command of a pane
launcher         the launcher
pane_cache       the person's own panes, cached
prompt_input     typing a prompt into a pane
server           the private tmux server
session          one session
user_pane_keys   keys for an agent in one of them
user_panes       the person's own panes
viewer           viewing a pane
"""
