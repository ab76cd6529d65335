"""The daemon of another machine: which addresses may get a token, and where it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.errors import Misused
from quarterdeck.surfaces.client.remote import remote_daemon


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://otter.example:4180", "https://otter.example:4180"),
        ("https://otter.example/", "https://otter.example"),
        ("http://127.0.0.1:4180", "http://127.0.0.1:4180"),
        ("http://[::1]:4180", "http://[::1]:4180"),
        ("http://localhost:4180", "http://localhost:4180"),
    ],
)
def test_a_token_goes_over_tls_or_stays_on_this_machine(url: str, address: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("qdt_secret\n")
    named = remote_daemon(url, file)
    assert named is not None
    assert named.endpoint() == (address, "qdt_secret")
    file.write_text("qdt_another\n")
    assert named.endpoint() == (address, "qdt_another")


@pytest.mark.parametrize(
    "url",
    [
        "http://otter.example:4180",
        "http://10.0.0.7:4180",
        "otter.example:4180",
        "ftp://otter.example",
        "https://",
        "https://otter.example:nonsense",
        "https://otter.example/api",
        "https://me:secret@otter.example",
        "https://[::1",
        "",
    ],
)
def test_another_address_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(Misused, match=r"^--url: "):
        remote_daemon(url, tmp_path / "token")


def test_both_options_are_needed_or_neither(tmp_path: Path) -> None:
    assert remote_daemon(None, None) is None
    for url, file in (("https://otter.example", None), (None, tmp_path / "token")):
        with pytest.raises(Misused, match="give both"):
            remote_daemon(url, file)


@pytest.mark.parametrize("content", [b"", b"two tokens", b"\xff\xfe", "t\xf6ken".encode(), b"a\nb"])
def test_a_file_without_one_token_is_named(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    named = remote_daemon("https://otter.example", file)
    assert named is not None
    with pytest.raises(Misused, match=rf"^--token-file: {file} "):
        named.endpoint()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    named = remote_daemon("https://otter.example", tmp_path / "none")
    assert named is not None
    with pytest.raises(Misused, match="No such file"):
        named.endpoint()
