"""Sessions in tmux, and agents in the person's own tmux."""
