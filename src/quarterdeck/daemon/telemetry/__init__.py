"""Numbers, logs and spans of the daemon itself."""
