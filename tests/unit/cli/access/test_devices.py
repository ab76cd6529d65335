"""The QR code of a link."""

from __future__ import annotations

from quarterdeck.cli.access.devices import qr_lines


def test_a_link_is_drawn_small_enough_for_a_terminal() -> None:
    lines = qr_lines("https://desk.example.org:8443/login?code=" + "x" * 43)
    assert len(lines) < 26
    assert len({len(line) for line in lines}) <= 2
    assert "▄" in "".join(lines)
    assert lines != qr_lines("https://desk.example.org:8443/login?code=" + "y" * 43)
