"""The cost of tokens."""

from __future__ import annotations

from importlib import resources

import pytest

from quarterdeck.agents.claude.transcripts.prices import TokenCounts, cost_of, plain_name, read_prices

PRICES = read_prices(resources.files("quarterdeck.agents.claude").joinpath("prices.json").read_bytes())
MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "tokens", "dollars"),
    [
        ("claude-opus-4-1-20250805", TokenCounts(input=MILLION, output=MILLION), 90.0),
        ("claude-opus-4-8[1m]", TokenCounts(input=MILLION, output=MILLION), 30.0),
        ("claude-opus-5-5", TokenCounts(cache_read=MILLION, cache_write_1h=MILLION), 8.2),
        ("claude-sonnet-4-5@20250929", TokenCounts(cache_write_5m=MILLION, cache_write_1h=MILLION), 9.75),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", TokenCounts(cache_read=MILLION, input=MILLION), 1.1),
        ("claude-3-5-haiku-latest", TokenCounts(output=MILLION), 4.0),
        ("claude-3-haiku-20240307", TokenCounts(input=MILLION), 0.25),
        ("claude-sonnet-5", TokenCounts(web_searches=3), 0.03),
    ],
)
def test_a_known_model_has_its_list_price(model: str, tokens: TokenCounts, dollars: float) -> None:
    assert cost_of(PRICES, model, tokens) == pytest.approx(dollars)


@pytest.mark.parametrize("model", ["", "claude-opus-9", "gpt-5", "claude-opus-4-55", "my-claude", "<synthetic>"])
def test_an_unknown_model_has_no_price(model: str) -> None:
    assert cost_of(PRICES, model, TokenCounts(input=1)) is None


def test_a_fast_message_is_not_priced_as_a_plain_one() -> None:
    assert cost_of(PRICES, "claude-opus-5-5", TokenCounts(input=1), "fast") is None
    assert cost_of(PRICES, "claude-opus-5-5", TokenCounts(input=1), "standard") is not None


def test_the_price_list_is_consistent() -> None:
    assert PRICES.as_of
    for name, price in PRICES.models.items():
        assert plain_name(name) == name
        assert 0 < price.cache_read < price.input < price.cache_write_5m < price.cache_write_1h < price.output
