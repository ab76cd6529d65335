"""The cost of tokens by Anthropic's price list. A model that is not on the list has no price, never a guessed one."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

STANDARD = ("", "standard")
"""The speeds that the list is for; a fast message has another price, which is not known here."""


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """USD per million tokens."""

    input: float
    output: float
    cache_write_5m: float
    cache_write_1h: float
    cache_read: float


class Prices(Struct, frozen=True, forbid_unknown_fields=True):
    """The price list of `prices.json`, and the day it was checked."""

    as_of: str
    unit: str
    source: str
    web_search: float
    models: dict[str, Price]

    def of(self, model: str) -> Price | None:
        """The price of a model by any of its names."""
        return self.models.get(plain_name(model))


class TokenCounts(Struct, frozen=True, kw_only=True):
    """The tokens of one message, as far as its price depends on them."""

    input: int = 0
    output: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0
    web_searches: int = 0


def read_prices(content: bytes) -> Prices:
    """The price list."""
    return msgspec.json.decode(content, type=Prices)


_DATED = re.compile(r"[-@]\d{8}$|-latest$")


def plain_name(model: str) -> str:
    """A model's name without provider, region, date and context size: `us.anthropic.claude-opus-4-5-20251101-v1:0`
    and `claude-opus-4-5[1m]` are `claude-opus-4-5`."""
    start = model.find("claude-")
    name = model[max(start, 0) : max(start, 0) + 128].partition("[")[0].partition(":")[0]
    name = name[: -len("-v1")] if name.endswith("-v1") else name
    return _DATED.sub("", name)


def cost_of(prices: Prices, model: str, tokens: TokenCounts, speed: str = "") -> float | None:
    """USD for one message; None when the model has no known price at this speed."""
    price = prices.of(model)
    if price is None or speed not in STANDARD:
        return None
    millionths = (
        tokens.input * price.input
        + tokens.output * price.output
        + tokens.cache_write_5m * price.cache_write_5m
        + tokens.cache_write_1h * price.cache_write_1h
        + tokens.cache_read * price.cache_read
    )
    return millionths / 1_000_000 + tokens.web_searches * prices.web_search
