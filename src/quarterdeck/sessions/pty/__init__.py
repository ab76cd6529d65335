"""Sessions in the daemon's own terminals, each kept by a host process."""
