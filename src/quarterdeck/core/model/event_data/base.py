"""The root of all event data."""

from __future__ import annotations

from msgspec import Struct


class Data(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The common root of all data types."""
