"""Text made from data: pure functions that every surface shares."""
