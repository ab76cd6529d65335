"""`qd replay`: play an exported feed as lines. Needs no daemon, and writes nothing."""

from __future__ import annotations

import signal
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated

import msgspec

from quarterdeck.cli.commands.event_feed import FeedPrinter, SessionProjects
from quarterdeck.cli.common import argument, command, group, option
from quarterdeck.cli.output.playback import Pace, Playback, keys, no_keys, read_speed
from quarterdeck.cli.output.recorded_feed import FeedSummary, RecordedFeed, open_feed
from quarterdeck.core.text.durations import duration_words
from quarterdeck.views.resources.event_view import event_view

app = group("Play an exported feed.")


@command(app)
def replay(
    file: Annotated[Path, argument("Feed from `qd export`; - for stdin.", metavar="FILE")],
    speed: Annotated[str, option("Playback speed; 10 is ten times faster, max (or 0) is all at once.")] = "1",
    every: Annotated[bool, option("All events in log order, including debug events.", "--all-events")] = False,
) -> None:
    """Play an exported feed as lines.

    The lines are those of `qd feed -f`, at the pace of the recording; the desk is not opened. A gap of more than 5 s
    is shortened to 5 s before the speed is applied. On a terminal, space pauses and goes on, and q ends. The whole file
    is checked first; your home, your log and your sessions are neither read nor changed.
    """
    pace = Pace(read_speed(speed))
    with closing(open_feed(file, sys.stdin.buffer)) as feed:
        summary = feed.check()
        signal.signal(signal.SIGTERM, _exit)
        signal.signal(signal.SIGHUP, _exit)
        with keys(is_stdin_taken=str(file) == "-") as press:
            sys.stderr.write(_announcement(summary) + (" Space pauses, q ends.\n" if press else "\n"))
            sessions = [{"session_id": one, "cwd": cwd} for one, cwd in summary.folders.items()]
            printer = FeedPrinter(every=every, projects=SessionProjects(lambda: sessions))
            with suppress(KeyboardInterrupt):
                _play(feed, printer, pace, Playback(press or no_keys, sys.stderr.write))
            printer.print_rest()


def _exit(number: int, frame: object) -> None:
    """Exit on a signal through `finally`, so that the terminal gets its settings back."""
    raise SystemExit(128 + number)


def _announcement(summary: FeedSummary) -> str:
    took = duration_words(max(summary.last - summary.first, 0.0))
    damaged = f" {summary.damaged:,} damaged left out." if summary.damaged else ""
    return f"Playing {summary.events:,} events of {took}.{damaged}"


def _play(feed: RecordedFeed, printer: FeedPrinter, pace: Pace, playback: Playback) -> None:
    for event in feed.events():
        if not playback.wait(pace.seconds_before(event.at)):
            return
        printer.print_new([msgspec.to_builtins(event_view(event, None))])
