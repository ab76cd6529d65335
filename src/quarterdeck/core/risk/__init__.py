"""The risk of a tool use: the harm it can do."""
