"""Faces of Quarterdeck: each reads views and sends commands."""
