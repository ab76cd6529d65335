"""Readers of git's output, and remotes without their secrets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.workspace.git_output import plain_remote, read_config, read_status
from quarterdeck.core.workspace.projects import GitFacts


def test_a_clean_branch_with_an_upstream() -> None:
    output = b"# branch.oid 1f\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +2 -13\0"
    assert read_status(output) == GitFacts(branch="main", is_dirty=False, ahead=2, behind=13)


def test_an_untracked_file_is_a_change_even_when_it_is_named_like_a_header() -> None:
    assert read_status(b"# branch.head main\0? # branch.head x\0") == GitFacts(branch="main", is_dirty=True)


def test_a_detached_head_has_no_branch() -> None:
    assert read_status(b"# branch.oid 1f\0# branch.head (detached)\0").branch is None


@given(st.binary())
def test_any_output_of_git_is_read(output: bytes) -> None:
    read_status(output)
    read_config(output)


def test_the_remote_is_origin_and_each_filter_is_named_once() -> None:
    output = (
        b"remote.fork.url\nssh://h/a\0remote.origin.url\nssh://h/b\0filter.a=b.c.clean\nx\0filter.a=b.c.process\ny\0"
    )
    assert read_config(output + b"filter.clean\0core.bare\nfalse\0") == ("ssh://h/b", ["a=b.c"])


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.org/ann/shop.git", "https://example.org/ann/shop.git"),
        ("https://ann:t0ken@example.org:8443/shop.git", "https://example.org:8443/shop.git"),
        ("https://t0ken@example.org/@scope/shop", "https://…"),
        ("https://example.org/shop?private_token=t0ken#t0ken", "https://example.org/shop"),
        ("git@example.org:ann/shop.git", "git@example.org:ann/shop.git"),
        ("ssh://git@example.org:22/shop.git", "ssh://git@example.org:22/shop.git"),
        ("ssh://ann:t0ken@example.org/shop.git", "ssh://ann@example.org/shop.git"),
        ("ann:t0ken@example.org:shop.git", "ann@example.org:shop.git"),
        ("https://ann:t0/ken@example.org/shop", "https://…"),
        ("../shop.git", "../shop.git"),
        ("https://[::1]:80/shop", "https://[::1]:80/shop"),
    ],
)
def test_a_remote_is_shown_without_its_credentials(url: str, shown: str) -> None:
    assert plain_remote(url) == shown


@pytest.mark.law("A12")
@given(
    st.sampled_from(["https://", "http://", "ssh://", "ftp://", "foo::https://", "git+https://"]),
    st.text("abc.-_", max_size=5),
    st.text("abc:/@?#[]%", max_size=8),
    st.text("abc/.@:", max_size=8),
)
def test_no_password_is_ever_shown(scheme: str, user: str, inner: str, path: str) -> None:
    assert "T0KEN" not in plain_remote(f"{scheme}{user}:T0KEN{inner}T0KEN@example.org/{path}")
