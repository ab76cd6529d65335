"""Programs, described by what they may do: subcommands, options, and the effects of each.

command_effects   the effects of any command, and whether a rule covers them
command_reader    reads a command by the grammar of its program
credential_files  files that hold credentials, and the words of a command that name one
grammar           the form of a grammar, and how a table is read
interpreters      interpreters of languages, which run the text they get
operands          operands and values whose effects depend on their text
project_paths     whether a path is in the project
registry          the programs that have a grammar
risky_options     programs without a grammar of which the risky options are known
tables            the grammars
"""
