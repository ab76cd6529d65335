"""The levels of risk, from the lowest, and how each is marked."""

from __future__ import annotations

from collections.abc import Mapping

LEVELS = ("low", "medium", "high", "critical")
MARKS: Mapping[str, str] = {"low": "", "medium": "!", "high": "!!", "critical": "!!!"}
"""How a level is shown beside its word."""
