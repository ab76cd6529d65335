"""Owned and observed sessions."""
