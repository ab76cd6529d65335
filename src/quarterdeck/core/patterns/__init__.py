"""The pattern language of rules, and the tool uses a pattern covers."""
