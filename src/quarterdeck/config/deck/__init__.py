"""The file of the key deck, `deck.yaml`.

deck_file      reads it, or names everything that is wrong with line and key
yaml_nodes     the values of a YAML text, each with its key and line
deck_template  the file of a new deck
runbook_file   the file of the Runbook prototype, as a deck.yaml
"""
