"""The parts of the main screen.

header          the top line with totals, and the banner about the connection
session_list    the list of sessions
task_panel      the to-dos of the shown session
feed_pane       the feed, with its title and filter
speech          live text of running models, below the feed
request_pane    the desk: one pending request as a card
command_line    the line that opens with `:`
welcome         first steps while no session is known
"""
