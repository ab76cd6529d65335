"""Keys and commands of the terminal UI.

command_dispatch  runs commands by name
decision_keys     the keys that decide a request, and the card they are about
help_screen       the help: every key and every command
key_reference     every key, by place
"""
