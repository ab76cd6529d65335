"""The record seen from outside: search, filters, audit and export of a real daemon's log."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from quarterdeck.store.search_index import indexed_upto
from tests.support.daemon import Daemon, permission, prompt, until


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("record") / "home") as running:
        yield running


def qd(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "QUARTERDECK_HOME": str(home)}
    command = [sys.executable, "-m", "quarterdeck", *words]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)


def found(daemon: Daemon, query: str) -> list[dict[str, Any]]:
    status, page = daemon.api("GET", f"/feed?{query}")
    assert status == 200, page
    return list(page["events"])


def texts(events: list[dict[str, Any]]) -> list[str]:
    return [e["data"]["prompt"] for e in events if e["kind"] == "user.prompt"]


def test_a_new_text_is_found_before_and_after_it_is_indexed(daemon: Daemon) -> None:
    assert daemon.hook(prompt("polish the Periscope, please", "words"))[0] == 204

    def newest(typed: str) -> list[str]:
        return texts(found(daemon, f"q={quote(typed)}&before=9007199254740991&limit=50"))

    expected = ["polish the Periscope, please"]
    assert newest("PERISCOPE polish") == expected
    index = daemon.home / "search.db"

    def indexed() -> bool:
        with sqlite3.connect(f"{index.as_uri()}?mode=ro", uri=True) as db, daemon.db() as log:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'mark'").fetchone():
                return False  # it is made just now
            last = log.execute("SELECT max(seq_no) FROM events").fetchone()
            return bool(db.execute("SELECT seq_no FROM mark").fetchone() == last)

    until(indexed, what="the index")
    assert newest("PERISCOPE polish") == newest("perisc") == newest('"polish the periscope"') == expected
    assert newest('"the polish"') == newest('"perisc"') == []
    for odd in ('"', "NEAR(", "a OR", "*", "^", "-x", "x:y", "\\", "'", "%", "(" * 500, "\x00"):
        assert daemon.api("GET", f"/feed?q={quote(odd)}")[0] == 200, odd


def test_events_are_filtered_by_time_and_project(daemon: Daemon) -> None:
    before = time.time()
    daemon.hook({**prompt("early", "timed"), "cwd": "/w/timed"})
    between = time.time()
    daemon.hook({**prompt("late", "timed"), "cwd": "/w/timed"})
    assert texts(found(daemon, f"session_id=timed&since={before}&until={between}")) == ["early"]
    assert texts(found(daemon, f"session_id=timed&since={between}")) == ["late"]
    project = daemon.api("GET", "/sessions/timed")[1]["project_id"]
    assert texts(found(daemon, f"project_id={project}")) == ["early", "late"]
    assert texts(found(daemon, f"project_id={project}&q=late")) == ["late"]
    assert found(daemon, "project_id=p_nothing") == []
    assert daemon.api("GET", "/feed?since=x")[0] == 422


def test_the_command_line_filters_the_feed(daemon: Daemon) -> None:
    daemon.hook(prompt("narrow me", "narrow"))
    output = qd(daemon.home, "feed", "--json", "--search", "narrow", "--since", "1h", "--actor", "user").stdout
    assert texts(json.loads(output)["events"]) == ["narrow me"]
    gone = qd(daemon.home, "feed", "--json", "--search", "narrow", "--until", "2020-01-31", "--tool", "Bash").stdout
    assert json.loads(gone)["events"] == []
    wrong = qd(daemon.home, "feed", "--since", "yesterday")
    assert (wrong.returncode, "2026-01-31" in wrong.stderr) == (2, True)


@pytest.mark.law("A11")
def test_the_audit_shows_who_decided_what(daemon: Daemon) -> None:
    held = daemon.hold(permission("rm audited", "audited"))
    [request] = daemon.until_pending(1)
    assert daemon.decide(request, "deny", message="no")[0] == 200
    held.answer()
    rows: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        status, page = daemon.api("GET", f"/audit?after={after}&limit=1")
        assert status == 200
        rows += page["audit"]
        after = page["next"]
    kinds = [row["kind"] for row in rows]
    assert "setting.change" in kinds
    [row] = [row for row in rows if row["kind"] == "permission.decision"]
    assert (row["who"], row["source"], row["digest"]) == ("owner", "user", request["digest"])
    assert (row["what"]["request_id"], row["what"]["tool_name"]) == (request["request_id"], "Bash")
    assert (row["what"]["decision_type"], row["about"]) == ("deny", "rm audited")
    with daemon.db() as db:
        chained = db.execute("SELECT hash FROM events WHERE seq_no=?", (row["seq_no"],)).fetchone()[0]
    assert row["hash"] == chained.hex()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of a stopped daemon, with hostile text in its log."""
    with Daemon(tmp_path / "home") as daemon:
        daemon.hook(prompt('=cmd|"/c calc"!A1\n# head *bold* <b>', "s1"))
        daemon.hook(prompt("plain\x1b[31m", "s2"))
        assert daemon.stop() == 0
    return tmp_path / "home"


def stored(home: Path) -> list[dict[str, Any]]:
    db = sqlite3.connect(home / "events.db")
    rows = db.execute("SELECT body, hash FROM events ORDER BY seq_no").fetchall()
    db.close()
    return [{**json.loads(body), "hash": row_hash.hex()} for body, row_hash in rows]


def test_the_log_is_exported_without_a_daemon(home: Path, tmp_path: Path) -> None:
    rows = stored(home)
    done = qd(home, "export", "--format", "ndjson", "--verify")
    assert (done.returncode, [json.loads(line) for line in done.stdout.splitlines()]) == (0, rows)
    assert f"{len(rows)} rows, head {rows[-1]['hash']}" in done.stderr
    alone = qd(home, "export", "--verify")
    assert (alone.returncode, alone.stdout, alone.stderr) == (0, "", done.stderr)
    part = qd(home, "export", "--session", "s2", "--after", "1", "--output", str(tmp_path / "out"))
    assert (part.returncode, part.stdout) == (0, "")
    lines = (tmp_path / "out").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [row for row in rows if row["session_id"] == "s2"]
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600


def test_a_csv_export_has_no_formula_and_a_markdown_one_no_foreign_markup(home: Path) -> None:
    rows = stored(home)
    table = list(csv.DictReader(io.StringIO(qd(home, "export", "--format", "csv").stdout)))
    assert [row["hash"] for row in table] == [row["hash"] for row in rows]
    assert [json.loads(row["data"]) for row in table] == [row["data"] for row in rows]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in table for cell in row.values())
    page = qd(home, "export", "--format", "md").stdout
    assert "\\# head \\*bold\\* \\<b\\>" in page
    assert "\x1b" not in page
    assert "\n## 20" in page


DAMAGE = {
    "changed": ("UPDATE events SET body=replace(body,'plain','other') WHERE seq_no={row}", "does not match"),
    "no text": ("UPDATE events SET body=CAST(x'ff00ff' AS TEXT) WHERE seq_no={row}", "does not match"),
    "missing": ("DELETE FROM events WHERE seq_no={row}", "missing"),
    "cut off": ("DELETE FROM events WHERE seq_no>={row}", "missing"),
}


@pytest.mark.law("A11")
@pytest.mark.law("E11")
@pytest.mark.parametrize(("sql", "reason"), DAMAGE.values(), ids=DAMAGE.keys())
def test_a_changed_or_missing_row_is_named_and_the_rest_is_exported(home: Path, sql: str, reason: str) -> None:
    row = next(row["seq_no"] for row in stored(home) if row["data"].get("prompt", "").startswith("plain"))
    db = sqlite3.connect(home / "events.db")
    db.execute(sql.format(row=row))
    db.commit()
    numbers = [n for (n,) in db.execute("SELECT seq_no FROM events ORDER BY seq_no")]
    db.close()
    alone = qd(home, "export", "--verify")
    done = qd(home, "export", "--verify", "--format", "ndjson")
    assert (alone.returncode, alone.stdout, alone.stderr) == (1, "", done.stderr)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert f"seq_no {row}: " in done.stderr
    assert reason in done.stderr
    assert [json.loads(line)["seq_no"] for line in done.stdout.splitlines()] == numbers


@pytest.mark.law("E11")
def test_a_torn_log_exports_every_readable_row(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Daemon(home) as daemon:
        for n in range(60):
            daemon.hook(prompt(f"p{n} " + "x" * 3000))
        assert daemon.stop() == 0
    whole = len(stored(home))
    with (home / "events.db").open("r+b") as file:
        file.seek(40 * 4096)
        file.write(b"\xff" * 4096)
    done = qd(home, "export", "--verify", "--format", "ndjson")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "seq_no" in done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len([line for line in lines if not line.get("damaged")]) > whole // 2


@pytest.mark.parametrize("words", [(), ("--verify",)])
def test_exporting_without_a_log_is_refused_in_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = qd(tmp_path, "export", *words)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    (tmp_path / "events.db").write_bytes(b"noise" * 1000)
    done = qd(tmp_path, "export", *words)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)


@pytest.mark.law("E11")
@pytest.mark.law("E2")
def test_a_log_that_lost_its_last_rows_is_not_continued(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        for n in range(20):
            daemon.hook(prompt(f"word{n}"))
        until(lambda: indexed_upto(daemon.home / "events.db") >= 20, what="the index")
        daemon.kill9()
        (daemon.home / "events.db-wal").unlink()
        (daemon.home / "events.db").unlink()
        daemon.start()
        assert daemon.api("GET", "/sessions")[0] == 200
        assert daemon.hook(prompt("more"))[0] == 503
        assert "were here and are gone" in daemon.stdout()
