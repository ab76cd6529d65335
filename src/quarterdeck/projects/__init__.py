"""This machine's projects."""
