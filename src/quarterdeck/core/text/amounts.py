"""Amounts in a few characters: tokens, money, counts, and text cut to a width."""

from __future__ import annotations

from typing import Any

WIDTH = 100


def cut(text: str, width: int = WIDTH) -> str:
    """The text in at most `width` characters, cut in the middle."""
    if len(text) <= width:
        return text
    half = (width - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def short_usage(usage: Any) -> str:
    """Tokens and cost in a few characters. An unknown cost is left out."""
    tokens = usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    cost = money(usage.cost_usd)
    return f"{count(tokens)} tokens{' ' + cost if cost else ''}"


def money(dollars: float | None) -> str:
    """A cost in dollars and cents; empty for none, and never `$0.00` for a small cost."""
    if not dollars:
        return ""
    return f"${dollars:.2f}" if dollars >= 0.005 else "<$0.01"


def count(number: int) -> str:
    """A number in about four characters: 950, 12k, 3.4M."""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.0f}k" if number < 999_500 else f"{number / 1_000_000:.1f}M"


def counted(number: int, word: str) -> str:
    """A number with its word, in the plural unless it is one."""
    return f"{number} {word}{'' if number == 1 else 's'}"
