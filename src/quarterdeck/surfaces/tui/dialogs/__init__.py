"""What is asked before something is sent: one dialog a file."""
