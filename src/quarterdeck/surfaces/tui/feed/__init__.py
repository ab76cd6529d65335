"""The feed in the terminal: a window of the log as compact rows, and the widget that draws the visible ones.

view           the widget: cursor, opening, searching, jumping, keys and mouse
log_reader     follows the log and reads older pages
canvas         draws the visible rows
source         reads events from the daemon and caches them
details        the lines of an opened event
empty_state    the text of a feed without rows
styles         the styles of its roles
rows           the rows: pairing, folding, filtering; pure
render         the views of tools; pure
"""
