"""The hub of this machine: hub join, status, leave."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from rich.text import Text

from quarterdeck.cli.common import Json, Output, argument, cell, client, option, settings
from quarterdeck.config.home import home_path, prepare_home
from quarterdeck.daemon.setup import joined_hub
from quarterdeck.errors import ConfigError, Misused, NoDaemon
from quarterdeck.surfaces.text.labels import ago, link_label

WAIT_SECONDS = 10.0
POLL_SECONDS = 0.1
NOT_RUNNING = "the daemon is not running; it connects when it starts: qd up"


def join(
    url: Annotated[str, argument("Address of the hub, like https://hub.example.org.", metavar="URL")],
    token: Annotated[str | None, option("This machine's token, from `qd hub enroll`.")] = None,
    token_file: Annotated[Path | None, option("A file with that token; - reads it from stdin.")] = None,
) -> Output:
    """Join a hub, or take a new token for it. A running daemon connects at once."""
    if (token is None) == (token_file is None):
        raise Misused("give the token either as --token or as --token-file")
    if settings(None).hub.url is not None:
        raise ConfigError("hub.url is set in config.yaml or the environment; change it there, with hub.token_file")
    prepare_home(home_path())
    address = joined_hub.join(home_path(), url, token or read_token(token_file))
    found = _link(wait_for=address.url)
    view = {"url": address.url, "joined": True, **(found or {"state": "not running", "trouble": NOT_RUNNING})}
    return Output(view, [f"Joined {address.url}.", *lines(view)])


def read_token(file: Path | None) -> str:
    if file is None or str(file) == "-":
        return sys.stdin.readline().strip()
    try:
        return file.expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--token-file: {file} cannot be read ({error})") from None


def status() -> Output:
    """Show the link to the hub. It says what waits, and what the hub may do here."""
    found = _link()
    address = joined_hub.hub_address(home_path(), settings(None).hub, joined_hub.read_membership(home_path()))
    if found is None and address is None:
        return Output({"joined": False}, ["This machine has joined no hub."])
    view = {"joined": True, "url": address.url if address else None}
    view |= found or {"state": "not running", "trouble": NOT_RUNNING}
    return Output(view, [f"Hub: {view['url']}", *lines(view)])


def leave(
    forget: Annotated[bool, option("Also forget what each folder shares.", "--forget")] = False,
) -> Output:
    """Leave the hub. Its rules no longer apply here; what it has stays there."""
    home = home_path()
    if settings(None).hub.url is not None:
        raise ConfigError("hub.url is set in config.yaml or the environment; remove it there")
    before = joined_hub.read_membership(home)
    if before.url is None and not forget:
        return Output({"joined": False, "url": None}, ["This machine has joined no hub."])
    joined_hub.leave(home)
    if forget:
        joined_hub.write_membership(home, joined_hub.HubMembership())
    return Output({"joined": False, "url": before.url}, [f"Left {before.url}." if before.url else "Forgotten."])


def _link(wait_for: str | None = None) -> Json | None:
    """The daemon's report on the link; None without a daemon or a hub. `wait_for` waits a moment for a state that
    says something."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            found: Json | None = client().get("/api/v1/stats")["hub"]
        except NoDaemon:
            return None
        is_there = found is not None and found["url"] == wait_for and (found["state"] == "ready" or found["trouble"])
        if wait_for is None or is_there or time.monotonic() > deadline:
            return found
        time.sleep(POLL_SECONDS)


def lines(view: Json) -> Iterator[str | Text]:
    if view.get("trouble"):
        yield cell(f"! {view['state']}: {view['trouble']}", "yellow")
    if "behind" not in view:
        return
    yield f"{link_label(view)}, {ago(view['since'])} · {view['acknowledged']:,} events acknowledged"
    yield f"It may: {', '.join(view['may']) or 'nothing'} · shares {view['share'].replace('_', ' ')}"
    for folder, level in sorted(view["shared_folders"].items()):
        yield f"  {folder}: {level.replace('_', ' ')}"
    if view["backlog_warning"]:
        yield cell(f"! what waits for the hub takes {view['backlog_used']:.0%} of its room", "yellow")
    if view["rules_refused"]:
        yield cell(f"! {view['rules_refused']} rules of the hub are not taken: hub.may lacks rules", "yellow")
