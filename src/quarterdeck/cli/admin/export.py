"""`qd export`: write the log to a file, and verify that it is complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

from quarterdeck.cli.common import command, group, option
from quarterdeck.cli.output.export_formats import FORMATS, ExportFilter
from quarterdeck.cli.output.time_args import SINCE, read_time
from quarterdeck.config.home import home_path
from quarterdeck.errors import Refused
from quarterdeck.store.dump import Archive, StoredRow
from quarterdeck.store.queries.feed_query import readable_event

app = group("Export the log.")
PROGRESS = 100_000


Format = Literal["ndjson", "csv", "md"]


class Tally:
    """Counts exported rows and reports the progress of a long export on stderr."""

    def __init__(self, last: int) -> None:
        self.rows = 0
        self.damaged: list[int] = []
        self._last = last

    def count(self, rows: Iterable[StoredRow]) -> Iterator[StoredRow]:
        for row in rows:
            self.rows += 1
            if row.body is None or readable_event(row.body) is None:
                self.damaged.append(row.seq_no)
            if self.rows % PROGRESS == 0:
                sys.stderr.write(f"Exported {self.rows:,} events, up to {row.seq_no:,} of {self._last:,}\n")
            yield row


@command(app)
def export(
    format: Annotated[
        Format | None, option("ndjson: one JSON object per line (default); csv: a table; md: a page.")
    ] = None,
    verify: Annotated[
        bool,
        option(
            "Verify the hash chain of the whole log; exit 1 names the first bad row. On its own it exports nothing.",
            "--verify",
        ),
    ] = False,
    session: Annotated[str, option("Only sessions whose id starts with this.")] = "",
    since: Annotated[str | None, option(f"Only events since then: {SINCE}.")] = None,
    until: Annotated[str | None, option(f"Only events until then: {SINCE}.")] = None,
    project: Annotated[str | None, option("Only sessions that worked in this folder, or in one of this name.")] = None,
    after: Annotated[int, option("Only events after this seq_no.", min=0)] = 0,
    output: Annotated[Path | None, option("File to write (default: stdout).", dir_okay=False)] = None,
) -> None:
    """Export or verify the log. Works without a daemon, and with a damaged log."""
    writes = not verify or any((format, session, after, output, since, until, project))
    wanted = ExportFilter(
        since=read_time(since) if since else None, until=read_time(until) if until else None, project=project
    )
    with closing(Archive(home_path() / "events.db")) as archive:
        tally = Tally(archive.end())
        if writes:
            rows = tally.count(wanted.of(archive.rows(after=after, session=session)))
            _write(FORMATS[format or "ndjson"](rows), output)
        if verify:
            _verify(archive)
    if tally.damaged:
        more = f" and {len(tally.damaged) - 1} more" if len(tally.damaged) > 1 else ""
        raise Refused(f"row {tally.damaged[0]}{more} is damaged and was exported as it is; see: qd export --verify")


def _write(pieces: Iterable[bytes], output: Path | None) -> None:
    with _opened(output) as out:
        for piece in pieces:
            out.write(piece)
        out.flush()


def _verify(archive: Archive) -> None:
    damage = archive.verify()
    if damage is not None:
        raise Refused(f"the log is damaged: seq_no {damage.seq_no}: {damage.reason}")
    count, head = archive.head()
    sys.stderr.write(f"The log is complete and unchanged: {count:,} rows, head {head}\n")


def _opened(output: Path | None) -> closing[BinaryIO] | nullcontext[BinaryIO]:
    """The stream to write to. Only the owner can read the file, because the log contains conversations."""
    if output is None:
        return nullcontext(sys.stdout.buffer)
    try:
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise Refused(f"{output}: cannot be written ({error.strerror})") from None
    return closing(os.fdopen(descriptor, "wb"))
