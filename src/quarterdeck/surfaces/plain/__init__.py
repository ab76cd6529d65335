"""Lines instead of a screen: what comes is said in sentences, and orders are typed; for screen readers and dumb
terminals."""

from quarterdeck.surfaces.plain.terminal_io import run, serve

__all__ = ["run", "serve"]
