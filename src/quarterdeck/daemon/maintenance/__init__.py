"""Background work on the store."""
