"""REST routes of the daemon's own resources."""
