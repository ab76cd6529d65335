"""Commands of daily work."""
