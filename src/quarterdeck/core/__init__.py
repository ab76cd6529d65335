"""The pure core: it decides everything and does no I/O."""
