"""Starting the daemon."""
