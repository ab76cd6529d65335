"""The feed in a terminal: a window of the log as compact rows, and the widget that draws what is visible of it."""
