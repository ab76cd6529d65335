"""Commands that run and administer Quarterdeck."""
