"""User-facing texts that every surface uses."""
