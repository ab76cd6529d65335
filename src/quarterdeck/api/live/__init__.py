"""The WebSocket: live updates and commands."""
