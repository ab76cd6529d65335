"""The about page: version, home, and what leaves this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from quarterdeck import __version__
from quarterdeck.config.addresses import is_loopback
from quarterdeck.core.text.durations import age_words
from quarterdeck.surfaces.terminal.styled_text import StyledLine, line
from quarterdeck.views.health import size

Json = dict[str, Any]
WIDTH = 14
PROMISE = "No telemetry; no network but what you configured."


def changed_settings(events: list[Json]) -> dict[str, Any]:
    """Settings that differ from their defaults, by the recorded changes."""
    settings: dict[str, Any] = {}
    for event in events:
        key, new = event["data"]["key"], event["data"].get("new")
        if new is None:
            settings.pop(key, None)
        else:
            settings[key] = _value(new)
    return settings


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def outgoing_settings(settings: Json) -> Iterator[str]:
    """A sentence for each setting that sends something beyond this machine or opens it to others."""
    channels = {"notify.webhook_url": "a webhook", "notify.push_url": "a push"}
    for key, channel in channels.items():
        if settings.get(key):
            more = ", with the tool's input" if settings.get("notify.include_input") else ""
            yield f"waiting requests are sent to {channel}{more}: {settings[key]} ({key})"
    if settings.get("otel.endpoint"):
        more = " with the input and output of tools" if settings.get("otel.include_content") else ""
        yield f"traces and metrics{more} go to {settings['otel.endpoint']} (otel.endpoint)"
    host = settings.get("runner.host")
    if host and not is_loopback(str(host)):
        yield f"it can be reached beyond this machine, at {host} (runner.host)"


def about_lines(facts: dict[str, str], settings: Json | None) -> Iterator[StyledLine]:
    """The facts, then what leaves this machine. `settings`: None if the daemon could not be asked."""
    yield line(("Quarterdeck", "strong"), " · mission control for Claude Code sessions")
    yield StyledLine()
    for name, value in facts.items():
        yield line((f"{name:<{WIDTH}}", "dim"), value, hang=WIDTH)
    yield StyledLine()
    yield line((PROMISE, "strong"))
    if settings is None:
        yield line(("The daemon is not responding, so its settings are not known.", "warn"))
    else:
        sentences = list(outgoing_settings(settings))
        for sentence in sentences:
            yield line(("→ ", "warn"), sentence, indent=2, hang=2)
        if not sentences:
            yield line(("✓ ", "good"), "Nothing is configured that leaves this machine.", indent=2)
    yield StyledLine()
    yield line(
        ("This does not cover what Claude Code, its plugins and its MCP servers send: see ", "dim"),
        ":plugins and :mcp",
        (".", "dim"),
    )


def facts_of(stats: Json | None, home: str, url: str) -> dict[str, str]:
    """Names and values; those of the daemon only if it answered."""
    facts = {"version": __version__, "home": home}
    if stats is not None:
        store = stats["store"]
        log = f"{store['seq_no']:,} events · {size(store['database_bytes'] + store['wal_bytes'])}"
        facts |= {"runner": stats["runner_id"], "listens at": url or "not known", "log": log}
        facts |= {"runs for": f"{age_words(stats['uptime_seconds'])} (version {stats['version']})"}
    return facts | {"licence": "MIT"}
