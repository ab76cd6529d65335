"""The other screens: one a file."""
