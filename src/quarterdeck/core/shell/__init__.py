"""Reading shell commands: the calls in a text, and whether it is clear enough for an allow rule.

calls            the result: calls, doubts, files read and written
fast_parser      a shortcut for the plainest lines, with regular expressions
leading_options  harmless options in front of what a rule names
plain_forms      forms of certain meaning that the parsers refuse, rewritten
plain_parser     one of the two parsers that must agree: reads only what is certain
rule_free_calls  calls that need no rule of their own
run_folders      the folder that the commands of a line run in
script           reads a shell text: two parsers must agree; the fast parser is a shortcut
tree_parser      the other of the two: tree-sitter
vocabulary       the shell's own words and commands
word_match       does a pattern of words cover a call?
wrappers         programs that run another program
"""
