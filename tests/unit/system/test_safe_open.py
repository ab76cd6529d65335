"""Files at untrusted paths."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quarterdeck.system.safe_open import open_below, read_regular


def test_only_a_small_regular_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    os.mkfifo(tmp_path / "pipe")
    assert read_regular(file, 5) == b"12345"
    assert read_regular(file, 4) is None
    assert read_regular(tmp_path / "pipe", 5) is None
    assert read_regular(tmp_path, 5) is None
    assert read_regular(tmp_path / "missing", 5) is None
    assert read_regular(tmp_path / "\0", 5) is None


def test_a_link_is_followed_only_on_request(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link", 5) is None
    assert read_regular(tmp_path / "link", 5, follow=True) == b"1"


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_can_have_is_not_found(tmp_path: Path, name: str) -> None:
    for root, parts in ((str(tmp_path / name), ["file"]), (str(tmp_path), [name, "file"]), (str(tmp_path), [name])):
        with pytest.raises(FileNotFoundError), open_below(root, parts):
            pass
