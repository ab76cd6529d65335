"""The pure core: it decides everything and does no I/O.

reduce      the one entry: (state, input) -> state, events, effects
deck        what a key deck shows, and what its keys would do
handlers    one module per kind of input
engine      a step: draft, fold, messages in and out
rules       the rulebook and its verdicts
patterns    what a rule's pattern covers
risk        how risky a request is
shell       shell lines, parsed
programs    what programs may do: their subcommands and options
text        titles, rows and other texts for people
model       state, events, requests, rules, as data
workspace   projects, worktrees and extensions, as data
"""
