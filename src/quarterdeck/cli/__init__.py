"""The command line: `quarterdeck`, short `qd`.

main       the entry point
app        the commands, imported on demand
common     how commands are added, options, output, client and errors
help_text  help in plain words
admin      the daemon, the installation and settings
access     tokens, devices and TLS
commands   sessions, requests, rules and projects
hub        the hub, and machines that join one
output     printing and prompting
quick      help, version and completion without Typer"""
