"""Changes of the state by one feed event, by what the event is about.

request_folds      requests and decisions
session_folds      owned sessions
transcript_folds   transcripts: messages, usage and cost
deck_folds         the key deck: what is armed and selected, and an editor's terminals
"""
