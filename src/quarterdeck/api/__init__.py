"""What a daemon serves over HTTP."""
