"""Compilers and build tools by their grammar."""

from __future__ import annotations

from tests.support.programs import covers_all, covers_none


def test_make_covers_what_it_is_for() -> None:
    assert covers_all("make:*", "make -j4 test", "make -C sub test", "make -n x")
    assert covers_none("make:*", "make SHELL=x", "make -f x", "make -C /x", "make --eval=x")


def test_cargo_covers_what_it_is_for() -> None:
    assert covers_all("cargo:*", "cargo test -p x", "cargo build --release")
    assert covers_none("cargo:*", "cargo install x", "cargo x", "cargo test --config x")


def test_go_covers_what_it_is_for() -> None:
    assert covers_all("go:*", "go test ./...", "go build -o bin/x ./cmd/x")
    assert covers_none("go:*", "go run x.example/y@latest", "go test -exec ./x ./...", "go build -o /x")
