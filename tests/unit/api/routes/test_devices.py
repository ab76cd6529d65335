"""The name of a device, from what its browser says of itself."""

from __future__ import annotations

import pytest

from quarterdeck.api.http.pairing_codes import PURPOSES
from quarterdeck.api.routes.devices import device_name

IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1 Version/19.0 Safari/604.1"
PIXEL = "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 Chrome/150.0.0.0 Mobile Safari/537.36"
EDGE = "Mozilla/5.0 (Windows NT 10.0; Win64) AppleWebKit/537.36 Chrome/150.0.0.0 Safari/537.36 Edg/150.0"


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (IPHONE, "phone Safari iPhone"),
        (PIXEL, "phone Chrome Android"),
        (EDGE, "phone Edge Windows"),
        ("Firefox/150", "phone Firefox"),
        ("curl/8", "phone"),
        ("", "phone"),
        ("<script>\x1b[2J", "phone"),
    ],
)
def test_only_known_words_of_a_user_agent_become_a_name(agent: str, name: str) -> None:
    assert device_name(PURPOSES["phone"], agent) == name
