"""Rules: the rulebook, its verdicts, lint, simulation and suggestions."""
