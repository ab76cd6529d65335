"""`qd notify test`: send a test notification through each channel."""

from __future__ import annotations

import secrets
import time
from typing import Any

from rich.text import Text

from quarterdeck.cli.common import ConfigFile, Output, cell, command, group, settings
from quarterdeck.core.text.notifications import Notice
from quarterdeck.daemon.notify.channels import Channel, channels_of
from quarterdeck.daemon.notify.http_post import NotificationFailed
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.errors import Refused

app = group("Test the notifications about waiting requests.", name="notify")


@command(app, "test")
def send_test(config: ConfigFile = None) -> Output:
    """Send a test notification through each channel. Shows the result of each."""
    channels = channels_of(settings(config).notify, Redactor())
    if not channels:
        raise Refused(
            "no channel is configured; set notify.desktop, notify.webhook_url or notify.push_url in config.yaml"
        )
    results = [_try(channel) for channel in channels]
    return Output({"channels": results}, map(_result_line, results), all(result["ok"] for result in results))


def _result_line(result: dict[str, Any]) -> Text:
    mark, style = ("✓", "green") if result["ok"] else ("✗", "red")
    return cell(f"{mark} {result['channel']} ({result['where']}): {result['says']}", style)


def _try(channel: Channel) -> dict[str, Any]:
    notice = Notice(
        notice_id=f"test-{secrets.token_hex(4)}",
        at=time.time(),
        risk="low",
        title="this is a test",
        message="You will be notified here about requests that nobody answers.",
        requests=(),
    )
    try:
        says, ok = channel.send(notice, None), True
    except NotificationFailed as error:
        says, ok = str(error), False
    return {"channel": channel.name, "where": channel.where, "ok": ok, "says": says}
