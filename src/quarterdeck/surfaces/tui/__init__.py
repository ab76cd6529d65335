"""The terminal UI: a Textual app that is a client of the daemon, like every other surface.

app                the app: follows the daemon, runs commands, owns the screens
main_screen        the main screen: desk, sessions, tasks, feed
screen_registry    the other screens by name
terminal_handover  hands the terminal to another program
terminal_notify    bell, desktop notification and title badge
dialogs            questions before something is sent
feed               the feed: rows of events and the widget that draws them
flows              what happens after a key
keys               key tables, command dispatch, help screen
panes              the parts of the main screen
screens            the other screens
widgets            general widgets, themes and output filters
"""
