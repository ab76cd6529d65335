"""Dialogs about sessions, rules, trust and servers."""
