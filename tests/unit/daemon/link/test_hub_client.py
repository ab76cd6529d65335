"""The client of a hub: what it reads from the home, and what it tells of the link."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.config.settings import HubSettings
from quarterdeck.daemon.setup.joined_hub import join, leave, set_share
from tests.support.link_client import hub_client, record_prompt

TOKEN = "qdr_" + "a" * 40


async def test_a_machine_without_a_hub_reports_nothing_and_keeps_no_cursor(tmp_path: Path) -> None:
    async with hub_client(tmp_path, HubSettings()) as client:
        await client.read_membership_files()
        assert client.report() is None
        assert not client.parts.loop.state.settings.in_hub
        assert client.log.cursor("hub") is None


@pytest.mark.law("H14")
async def test_from_joining_on_nothing_is_trimmed_that_the_hub_does_not_have(tmp_path: Path) -> None:
    async with hub_client(tmp_path, HubSettings()) as client:
        join(tmp_path, "https://hub.example.org", TOKEN)
        await client.read_membership_files()
        await record_prompt(client, "hello")
        client.parts.loop.save_snapshot()
        assert client.log.cursor("hub") == 0
        assert client.log.trimmable() == 0
        assert client.parts.loop.state.settings.in_hub
        leave(tmp_path)
        await client.read_membership_files()
        assert client.log.cursor("hub") is None
        assert client.log.trimmable() > 0


@pytest.mark.law("H14")
async def test_beyond_its_room_the_oldest_may_go(tmp_path: Path) -> None:
    async with hub_client(tmp_path, HubSettings(backlog_bytes=1024 * 1024)) as client:
        join(tmp_path, "https://hub.example.org", TOKEN)
        await client.read_membership_files()
        for n in range(40):
            await record_prompt(client, f"{n} " + "x" * 100_000)
        client.parts.loop.save_snapshot()
        client.make_room()
        report = client.report()
        assert report is not None
        assert report["backlog_warning"]
        assert 0 < client.log.trimmable() < client.log.seq_no


async def test_the_report_names_the_hub_and_what_is_shared(tmp_path: Path) -> None:
    async with hub_client(tmp_path, HubSettings(may=["observe"])) as client:
        join(tmp_path, "https://hub.example.org", TOKEN)
        set_share(tmp_path, "/srv", "nothing")
        await client.read_membership_files()
        report = client.report()
        assert report is not None
        assert (report["url"], report["state"], report["may"]) == (
            "https://hub.example.org",
            "disconnected",
            ["observe"],
        )
        assert report["shared_folders"] == {"/srv": "nothing"}


async def test_a_file_that_cannot_be_read_ends_the_link_and_is_named(tmp_path: Path) -> None:
    async with hub_client(tmp_path, HubSettings(url="http://127.0.0.1:1")) as client:
        (tmp_path / "hub.json").write_text("{")
        await client.read_membership_files()
        report = client.report()
        assert report is not None
        assert report["url"] is None
        assert "hub.json" in report["trouble"]
