"""The process that keeps one terminal: standard library only, so that it starts fast and stays small."""
