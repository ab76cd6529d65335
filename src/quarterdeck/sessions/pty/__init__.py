"""Sessions in the daemon's own terminals, each kept by a host process.

host_connection   a connection to a host, and viewing through it
host_registry     the records that hosts leave in the folder
launcher          the launcher
screen_text       the text on a screen
start             starting a host
"""
