"""The key deck as a surface of its own, in a terminal, and the checks for others that serve one.

console             `qd deck`: draws the model and takes keys
conformance         checks of a daemon that serves decks
conformance_checks  the rules of a model, one function each
"""
