"""Output and prompts of the commands."""
