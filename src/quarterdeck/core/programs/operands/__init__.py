"""Operands and values of options: their effects by their text, named in the grammars.

checks        the checks by name
file_checks   files that are packed, copied, edited in place or moved to a cloud
scripts       scripts of sed, awk and jq, and SQL
word_checks   one operand or value by its text, and the addresses in rules
"""
