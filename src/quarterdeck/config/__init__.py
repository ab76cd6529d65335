"""One typed tree of settings: config.yaml, then QUARTERDECK_* variables, then flags.

settings    every setting: type, default and meaning
loader      reads all sources, or names everything that is wrong
yaml_file   config.yaml, each value with its line
provenance  where a value was set, and problems with it
redacted    settings without secrets
effective   the settings in force, with their places
template    a commented config.yaml, and its schema
home        the folders of Quarterdeck and of Claude Code
addresses   questions about addresses
deck        the file of the key deck
value_words  what a wrong value must be, in plain words
"""
