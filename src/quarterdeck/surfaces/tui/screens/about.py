"""What this is, where it lives, and what leaves this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from textual import work
from textual.app import ComposeResult

from quarterdeck import __version__
from quarterdeck.config.addresses import is_loopback
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.styled_text import Line, line
from quarterdeck.surfaces.text.health import size
from quarterdeck.surfaces.text.labels import lasting
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.widgets.text_view import Wall

Json = dict[str, Any]
WIDTH = 14
MOST = 1_000
FAR = 2**62
PROMISE = "No telemetry; no network but what you configured."


def settings_of(events: list[Json]) -> dict[str, Any]:
    """Settings that are not as they come, by what the record says of their changes."""
    found: dict[str, Any] = {}
    for event in events:
        key, new = event["data"]["key"], event["data"].get("new")
        if new is None:
            found.pop(key, None)
        else:
            found[key] = _value(new)
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def reaching(settings: Json) -> Iterator[str]:
    """Each thing that was configured and reaches beyond this machine, in words."""
    ways = {"notify.webhook_url": "a webhook", "notify.push_url": "a push"}
    for key, way in ways.items():
        if settings.get(key):
            more = ", with what the tool was asked to do" if settings.get("notify.include_input") else ""
            yield f"requests that wait are told by {way}{more}: {settings[key]} ({key})"
    if settings.get("otel.endpoint"):
        more = " with what tools are given and answer" if settings.get("otel.include_content") else ""
        yield f"traces and metrics{more} go to {settings['otel.endpoint']} (otel.endpoint)"
    host = settings.get("runner.host")
    if host and not is_loopback(str(host)):
        yield f"it can be reached beyond this machine, at {host} (runner.host)"


def about_lines(facts: dict[str, str], settings: Json | None) -> Iterator[Line]:
    """What is known, then what leaves this machine. Settings are None while nobody could be asked."""
    yield line(("Quarterdeck", "strong"), " · mission control for Claude Code sessions")
    yield Line()
    for name, value in facts.items():
        yield line((f"{name:<{WIDTH}}", "dim"), value, hang=WIDTH)
    yield Line()
    yield line((PROMISE, "strong"))
    if settings is None:
        yield line(("What is configured is not known: the daemon is away.", "warn"))
    else:
        found = list(reaching(settings))
        for words in found:
            yield line(("→ ", "warn"), words, indent=2, hang=2)
        if not found:
            yield line(("✓ ", "good"), "Nothing is configured that leaves this machine.", indent=2)
    yield Line()
    yield line(
        ("What Claude Code itself, its plugins and its MCP servers send is theirs: see ", "dim"),
        ":plugins and :mcp",
        (".", "dim"),
    )


class AboutPage(PageScreen):
    """Asks the daemon once."""

    heading = "About"

    def inside(self) -> ComposeResult:
        yield Wall(classes="page", id="about")

    def on_mount(self) -> None:
        self.query_one("#about", Wall).focus()
        self.call_after_refresh(self.action_reload)

    def action_reload(self) -> None:
        self._read()

    @work(exclusive=True, group="read")
    async def _read(self) -> None:
        talk = self.face.talk
        try:
            stats = await talk.get("/stats")
            found = await talk.get("/feed", kind="setting.change", before=FAR, limit=MOST)
        except QuarterdeckError as error:
            self.trouble(str(error))
            self._show(facts_of(None, str(talk.home), ""), None)
            return
        self.trouble("")
        self._show(facts_of(stats, str(talk.home), talk.url), settings_of(found["events"]))

    def _show(self, facts: dict[str, str], settings: Json | None) -> None:
        for wall in self.query(Wall).filter("#about"):  # it may be gone when this comes late
            wall.show(about_lines(facts, settings))


def facts_of(stats: Json | None, home: str, url: str) -> dict[str, str]:
    """Name and value; of the daemon only where it was asked."""
    facts = {"version": __version__, "home": home}
    if stats is not None:
        store = stats["store"]
        log = f"{store['seq_no']:,} events · {size(store['database_bytes'] + store['wal_bytes'])}"
        facts |= {"runner": stats["runner_id"], "listens at": url or "not known", "log": log}
        facts |= {"runs for": f"{lasting(stats['uptime_seconds'])} (version {stats['version']})"}
    return facts | {"licence": "MIT"}
