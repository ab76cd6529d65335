"""One machine: hears agents, decides, records, answers."""
