"""The pattern language of rules, and the tool uses a pattern covers.

command_paths     files that a shell line plainly names
command_patterns  patterns over shell commands
coverage          what a rule for a command covers, in words
folder_sweeps     programs that reach everything below a folder
glob_overlap      can a path pattern and a path with wildcards mean the same file?
globs             globs over text and over paths
match             does a pattern allow, or forbid, a tool use?
path_patterns     patterns over files
path_prefilter    a cheap test before path patterns are matched
pattern           reading a pattern: `Tool`, `Tool(…)`, `mcp__server__tool`
protected_paths   files of Quarterdeck, and settings that connect agents to it
rule_words        the words of the rule language, and the kinds of tools they mean
"""
