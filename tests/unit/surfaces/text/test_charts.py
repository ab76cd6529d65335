"""Bars and sparklines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.surfaces.text.charts import bar, sparkline

amounts = st.floats(0, 1e12)


@pytest.mark.parametrize(
    ("value", "drawn"), [(0, ""), (-1, ""), (8, "████"), (4, "██"), (1, "▌"), (0.001, "▏"), (99, "████")]
)
def test_a_bar_is_as_long_as_its_share(value: float, drawn: str) -> None:
    assert bar(value, 8, 4) == drawn


@given(amounts, amounts, st.integers(1, 60))
def test_a_bar_fits_its_width(value: float, most: float, width: int) -> None:
    assert len(bar(value, most, width)) <= width


@pytest.mark.parametrize(
    ("values", "width", "drawn"),
    [([], 5, ""), ([0, 0], 5, "  "), ([1, 8, 4], 5, "▁█▄"), ([1, 1, 2, 2], 2, "▄█"), ([0.0001, 1], 2, "▁█")],
)
def test_a_sparkline_has_a_column_for_each_value(values: list[float], width: int, drawn: str) -> None:
    assert sparkline(values, width) == drawn


@given(st.lists(amounts), st.integers(1, 40))
def test_a_sparkline_fits_its_width(values: list[float], width: int) -> None:
    assert len(sparkline(values, width)) == min(len(values), width)
