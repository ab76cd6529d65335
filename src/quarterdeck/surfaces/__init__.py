"""The surfaces: what a person uses. Each one reads views and sends commands, as a client of the daemon.

client    REST, the live connection, attach
text      labels and sentences for every surface
terminal  state and text shared by the terminal UI and plain mode
tui       the terminal UI
plain     plain mode
deck      the key deck in a terminal, and checks for others
web       the web page
"""
