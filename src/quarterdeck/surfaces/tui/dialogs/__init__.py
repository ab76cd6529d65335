"""Dialogs: a question before something is sent.

base          the base of all dialogs, and of those about one request
choices       numbered answers and words to choose from
rule_preview  the base of dialogs that make a rule
decisions     dialogs that decide a request
manage        dialogs about sessions, rules, trust and servers
"""
