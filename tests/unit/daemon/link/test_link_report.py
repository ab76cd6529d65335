"""The report on the link."""

from __future__ import annotations

from typing import Any

from quarterdeck.daemon.link.link_report import link_report
from quarterdeck.link.backoff import Backoff
from quarterdeck.link.messages import RegisteredMessage, RegisterMessage
from quarterdeck.link.runner_link import RunnerLink


def report(link: RunnerLink, *, url: str | None = "https://hub", trouble: str | None = None, last: int = 0) -> Any:
    return link_report(
        url,
        link,
        since=1.0,
        last=last,
        event_bytes=100.0,
        room=10_000,
        may=["observe"],
        share="everything",
        folders={},
        people=0,
        rules_refused=0,
        trouble=trouble,
    )


def test_a_machine_without_a_hub_reports_nothing() -> None:
    assert report(RunnerLink(0, Backoff(1.0, 30.0)), url=None) is None


def test_the_backlog_warns_from_four_fifths_of_its_room() -> None:
    link = RunnerLink(20, Backoff(1.0, 30.0))
    assert not report(link, last=99)["backlog_warning"]
    assert report(link, last=100)["backlog_warning"]
    assert report(link, last=100)["backlog_bytes"] == 8_000
    assert report(link, last=10_000)["backlog_used"] == 1.0


def test_trouble_is_shown_until_the_link_is_ready() -> None:
    link = RunnerLink(0, Backoff(1.0, 30.0))
    link.connect(0.0)
    link.close(0.0, 0.5, ("unreachable", "connection refused"))
    assert report(link)["trouble"] == "connection refused"
    link.connect(1.0)
    link.open(RegisterMessage(runner_id="r", name="box", seq_no=0), 1.0)
    link.receive(RegisteredMessage(last_seq_no=0, epoch=1, at=0.0), 1.0)
    assert report(link)["trouble"] is None
    assert report(link)["state"] == "ready"


def test_a_file_that_cannot_be_read_is_trouble_without_an_address() -> None:
    shown = report(RunnerLink(0, Backoff(1.0, 30.0)), url=None, trouble="hub.json cannot be read")
    assert (shown["trouble"], shown["trouble_kind"]) == ("hub.json cannot be read", "config")
