"""General widgets and the look of the terminal UI."""
