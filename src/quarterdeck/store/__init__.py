"""The append-only log and what is kept beside it, in SQLite."""
