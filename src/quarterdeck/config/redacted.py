"""Settings without secrets, to record and to show."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from quarterdeck.config.addresses import host_of
from quarterdeck.config.settings import KEYS, SECRET_URLS, Config, default_of

STARS = "****"


def value_of(config: Config, key: str) -> Any:
    """The value of a setting, as JSON has it."""
    section, _, name = key.partition(".")
    return getattr(getattr(config, section), name)


def changed_settings(config: Config) -> dict[str, str]:
    """Every setting that differs from its default, as JSON text. An address may be a secret itself, as the topic of a
    push service is: of that only the host is recorded, and a hash by which a change is seen."""
    return {
        key: json.dumps(_marked(value) if key in SECRET_URLS else value)
        for key in KEYS
        for value in [value_of(config, key)]
        if value != default_of(key)
    }


def _marked(url: str | None) -> str | None:
    if url is None:
        return None
    mark = hashlib.sha256(url.encode()).hexdigest()[:8]
    return f"{host_of(url)} (address {mark})"


def masked(key: str, value: Any) -> Any:
    """A value as it may be shown: of an address that may be a secret, the host and stars."""
    return f"{host_of(value)}/{STARS}" if key in SECRET_URLS and value else value


def may_show(key: str) -> bool:
    """True if an error may quote a wrong value: a secret written in place of its file name must not reach a log."""
    return key not in SECRET_URLS and not key.endswith("_file")
