"""What leaves this machine: hub preview."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from rich.text import Text

from quarterdeck.cli.common import Output, cell, client, option, settings
from quarterdeck.config.home import home_path
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.daemon.link.outgoing.outgoing_events import OutgoingEvents
from quarterdeck.daemon.link.outgoing.share_policy import SharePolicy, secrets_of
from quarterdeck.daemon.setup.joined_hub import TOKEN_FILE, read_membership
from quarterdeck.errors import NoDaemon, Refused
from quarterdeck.link.messages import LinkEvent
from quarterdeck.link.redaction.secret_remover import SecretRemover
from quarterdeck.link.redaction.share_levels import ShareLevels
from quarterdeck.link.runner_link import RowRange
from quarterdeck.store.reader import Reader
from quarterdeck.store.sqlite import read_only
from quarterdeck.wire import read_session, read_state


def preview(
    count: Annotated[int, option("How many of the last events.", min=1, max=10_000)] = 100,
) -> Output:
    """Show what the last events would send. Secrets and what is not shared are out."""
    home = home_path()
    database = home / "events.db"
    if not database.exists():
        raise Refused("there is no log yet; start the daemon with: qd up")
    hub_settings = settings(None).hub
    levels = ShareLevels(hub_settings.share, read_membership(home).share)
    with contextlib.closing(read_only(database)) as db, contextlib.closing(Reader(database)) as reader:
        folders = _folders(db)
        policy = SharePolicy(
            levels, SecretRemover(known_secrets(home)), lambda session: folders.get(session, ""), lambda _: ""
        )
        last = db.execute("SELECT coalesce(max(seq_no), 0) FROM events").fetchone()[0]
        outgoing, found = OutgoingEvents(reader, policy, ""), list[LinkEvent]()
        while batch := outgoing.read(RowRange(found[-1].seq_no if found else max(0, last - count), count)).events:
            found += batch
    return Output(json.loads(msgspec.json.encode({"events": found})), preview_lines(found))


def known_secrets(home: Path) -> list[str]:
    """The secrets that are removed literally."""
    tokens = []
    for name in ("token", "hook-token", TOKEN_FILE):
        with contextlib.suppress(OSError):
            tokens.append((home / name).read_text(encoding="utf-8").strip())
    return [*tokens, *secrets_of(os.environ)]


def _folders(db: sqlite3.Connection) -> dict[str, str]:
    """The folder of each session: of ended ones and of the last snapshot, and of those that the daemon knows now."""
    found = {}
    for (body,) in db.execute("SELECT body FROM sessions ORDER BY seq_no"):
        session = read_session(body)
        found[session.session_id] = session.context.cwd
    for (body,) in db.execute("SELECT body FROM snapshots ORDER BY seq_no"):
        found |= {name: session.context.cwd for name, session in read_state(body).sessions.items()}
    with contextlib.suppress(NoDaemon):
        found |= {session["session_id"]: session["cwd"] for session in client().all("/api/v1/sessions")}
    return found


def preview_lines(events: list[LinkEvent]) -> Iterator[Text]:
    for event in events:
        withheld = f" ({event.withheld.replace('_', ' ')})" if event.withheld else ""
        yield cell(f"{event.seq_no}{withheld} {one_line(bytes(event.event).decode())}")
    if not events:
        yield cell("No events yet.")
