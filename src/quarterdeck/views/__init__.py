"""Views of the core's state for every surface: structs, words, possible actions and outcomes. No I/O.

resources/         a struct for each resource, with the function that builds it
workspace/         the same for what surrounds a session
counts/            counts over time: what is counted, and series of it
allowed_decisions  the decisions that fit a request, and what must be seen before an allow
request_outcome    the outcome of a request as a sentence
possible_actions   what a person can do with a session, with the reason when it is not possible
code_colours       the colours of code and of diffs
session_label      the word and the sign for what a session does
run_history        the runs and the actors of a session
health             what is wrong with the daemon, and how to fix it
projection         views from structs with the same fields
versions           what to do about a daemon of another version
"""
