"""Connecting Claude Code: the parts of `qd install`, `qd uninstall` and the checks of `qd doctor`.

install         installing and uninstalling
json_diff       the diff of a dry run
plugin_store    the plugin's files and Claude Code's registry of it
settings_file   a settings file and its backup
status          the state of the connection
targets         the settings files where hooks can go
"""
