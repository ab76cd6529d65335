"""The risk of a tool use: the harm it can do.

assess            the risk of one tool call
breakdown         a shell line split into commands, each with its risk
command_risk      the risk of one shell command
command_rows      the command table, compiled
command_table     the command table: one row of risk per command
file_risk         the risk of reading, writing or deleting a path
path_zones        what a path leads to: project, system, credentials, guards
program_effects   the risk that follows from the grammar of a program
quick_risk        a cheap first risk, cached, for the loop
shell_line        the risk of a whole shell line
special_commands  commands that need more than a row of the table
text_signs        signs of harm in SQL and in code
"""
