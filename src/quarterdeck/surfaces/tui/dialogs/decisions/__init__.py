"""Dialogs that decide a request."""
