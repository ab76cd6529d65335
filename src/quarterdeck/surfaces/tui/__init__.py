"""The terminal face: a client of the daemon like every other surface."""
