"""What `qd tls` says."""

from __future__ import annotations

from typing import Any

from quarterdeck.cli.access.local_tls import tls_lines


def test_it_names_the_authority_the_settings_and_the_next_command() -> None:
    view: dict[str, Any] = {
        "authority": "/h/authority.pem",
        "fingerprint": "AB:CD",
        "certificate": "/h/cert.pem",
        "names": ["desk"],
    }
    view |= {"serves": False, "url": "https://desk:4181"}
    text = "\n".join(tls_lines(view))
    assert "AB:CD" in text
    assert "https://desk:4181/authority.crt" in text
    assert "tls_self_signed: true" in text
    assert text.endswith("Next: qd pair")
    assert "tls_self_signed" not in "\n".join(tls_lines({**view, "serves": True}))
