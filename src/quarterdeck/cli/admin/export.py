"""Taking the log away, and proving that it is whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from quarterdeck.cli.common import plainly
from quarterdeck.cli.output.export_formats import FORMATS
from quarterdeck.config import home_path
from quarterdeck.errors import Refused
from quarterdeck.store.dump import Archive, StoredRow
from quarterdeck.store.feed_query import sound

PROGRESS = 100_000


class Format(StrEnum):
    NDJSON = "ndjson"
    CSV = "csv"
    MD = "md"


class Tally:
    """Counts rows as they pass and says on stderr how far a long export is."""

    def __init__(self, last: int) -> None:
        self.rows = 0
        self.damaged: list[int] = []
        self._last = last

    def count(self, rows: Iterable[StoredRow]) -> Iterator[StoredRow]:
        for row in rows:
            self.rows += 1
            if row.body is None or sound(row.body) is None:
                self.damaged.append(row.seq_no)
            if self.rows % PROGRESS == 0:
                sys.stderr.write(f"Exported {self.rows:,} events, up to {row.seq_no:,} of {self._last:,}\n")
            yield row


@plainly
def export(
    format: Annotated[
        Format | None, typer.Option(help="One JSON object a line (as without it), a table, a page.")
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Prove the whole chain; exit 1 names the first bad row. Alone it writes none."),
    ] = False,
    session: Annotated[str, typer.Option(help="Only sessions whose id begins so.")] = "",
    after: Annotated[int, typer.Option(min=0, help="Only events after this seq_no.")] = 0,
    output: Annotated[Path | None, typer.Option(help="Write here instead of stdout.", dir_okay=False)] = None,
) -> None:
    """Write the log to stdout or a file, or prove it. No daemon is needed, and a damaged log will do."""
    writes = not verify or any((format, session, after, output))
    with closing(Archive(home_path() / "events.db")) as archive:
        tally = Tally(archive.end())
        if writes:
            rows = tally.count(archive.rows(after=after, session=session))
            _write(FORMATS[format or Format.NDJSON](rows), output)
        if verify:
            _prove(archive)
    if tally.damaged:
        more = f" and {len(tally.damaged) - 1} more" if len(tally.damaged) > 1 else ""
        raise Refused(f"row {tally.damaged[0]}{more} is damaged and was written as it is; see: qd export --verify")


def _write(pieces: Iterable[bytes], output: Path | None) -> None:
    with _opened(output) as out:
        for piece in pieces:
            out.write(piece)
        out.flush()


def _prove(archive: Archive) -> None:
    damage = archive.verify()
    if damage is not None:
        raise Refused(f"the log is damaged: seq_no {damage.seq_no}: {damage.reason}")
    count, head = archive.head()
    sys.stderr.write(f"The chain is whole: {count:,} rows, head {head}\n")


def _opened(output: Path | None) -> closing[BinaryIO] | nullcontext[BinaryIO]:
    """Where the export goes; a file is ours alone, because the log holds what was said."""
    if output is None:
        return nullcontext(sys.stdout.buffer)
    try:
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise Refused(f"{output}: cannot be written ({error.strerror})") from None
    return closing(os.fdopen(descriptor, "wb"))


def register(cli: typer.Typer) -> None:
    cli.command()(export)
