"""Whom to tell of requests that wait: notify test."""

from __future__ import annotations

import secrets
import time
from typing import Any

import typer

from quarterdeck.cli.common import AsJson, ConfigFile, cell, out, plainly, print_json, settings
from quarterdeck.core.engine.notifications import Notice
from quarterdeck.daemon.notify.channels import Channel, channels_of
from quarterdeck.daemon.notify.http_post import NotSent
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.errors import Refused

notify = typer.Typer(help="Try how people are told of requests that wait.", no_args_is_help=True, rich_markup_mode=None)


@notify.callback()
def group() -> None:
    """A group of one command stays a group."""


@notify.command("test")
@plainly
def send_test(config: ConfigFile = None, json: AsJson = False) -> None:
    """Send a test through each configured channel, and say what came back."""
    channels = channels_of(settings(config).notify, Redactor())
    if not channels:
        raise Refused("no channel is configured: set notify.desktop, notify.webhook_url or notify.push_url")
    results = [_try(channel) for channel in channels]
    if json:
        print_json({"channels": results})
    else:
        for result in results:
            mark, style = ("✓", "green") if result["ok"] else ("✗", "red")
            out.print(cell(f"{mark} {result['channel']} ({result['where']}): {result['says']}", style))
    if not all(result["ok"] for result in results):
        raise typer.Exit(1)


def _try(channel: Channel) -> dict[str, Any]:
    notice = Notice(
        notice_id=f"test-{secrets.token_hex(4)}",
        at=time.time(),
        risk="low",
        title="this is a test",
        message="Requests that nobody answers will be told of here.",
        requests=(),
    )
    try:
        says, ok = channel.send(notice, None), True
    except NotSent as error:
        says, ok = str(error), False
    return {"channel": channel.name, "where": channel.where, "ok": ok, "says": says}


def register(cli: typer.Typer) -> None:
    cli.add_typer(notify, name="notify")
