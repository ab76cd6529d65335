"""Rules: the rulebook, its verdicts, lint, simulation and suggestions.

broader_rules        finds rules that may cover another one
command_rules        rules over shell lines
embedded_code        code hidden in arguments, which no rule may allow
file_format          rules as plain data for a file, and back
index                finds the few rules that can cover a tool use
lint                 problems in a set of rules
pattern_suggestions  patterns to offer when a decision is remembered
rulebook             the verdict of all rules on a tool use
self_protection      keeps rules from allowing changes to Quarterdeck itself
simulation           past requests that a new rule would have decided
suggestions          rules that a person's decisions imply
verdicts             applies the rulebook to requests
"""
