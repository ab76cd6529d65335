"""REST routes of what surrounds a session."""
