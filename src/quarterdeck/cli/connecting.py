"""Connecting Claude Code: install, uninstall, doctor."""

from __future__ import annotations

import typer


def register(cli: typer.Typer) -> None:
    pass
