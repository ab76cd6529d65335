"""Connecting Claude Code: the parts of `qd install`, `qd uninstall` and the checks of `qd doctor`."""
