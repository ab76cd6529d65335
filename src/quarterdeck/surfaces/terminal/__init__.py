"""Shared by the terminal UI and plain mode: state, text and actions."""
