"""Reading shell commands: the calls in a text, and whether it is clear enough for an allow rule."""
