"""Handlers: what each kind of input leads to."""
