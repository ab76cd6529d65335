"""A home, a port or a log that cannot be used: the error names the next step, and agents are never harmed."""

import os
import socket
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from quarterdeck.store.hash_chain import verify
from tests.support.daemon import Daemon, HeldHook, decision_in, permission, prompt, until
from tests.support.failpoints import ForkServer

pytestmark = pytest.mark.faults


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def daemon(home: Path, fork_server: ForkServer) -> Iterator[Daemon]:
    """A daemon that is not started."""
    with closing(Daemon(home, launch=fork_server.launch())) as daemon:
        yield daemon


def mounted(disk: Path, size: str) -> Iterator[Path]:
    """A file system of its own."""
    disk.mkdir()
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk]).returncode != 0:
        pytest.skip("only root can mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "disk", "3m")


def on_disk(disk: Path, fork_server: ForkServer, **env: str) -> Daemon:
    """A daemon whose home is on this disk, while its output is not."""
    return Daemon(disk / "home", env=env, launch=fork_server.launch(), logs=disk.parent)


def fill(disk: Path) -> Path:
    """A file that takes the rest of the disk."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass
    return ballast


def refuses_to_start(daemon: Daemon, *words: str) -> None:
    """One line, no traceback, exit 1, and no message that it is ready."""
    before = len(daemon.stderr())
    answer = daemon.stdout()
    daemon.begin()
    code = daemon.ended()
    stderr = daemon.stderr()[before:]
    lines = stderr.splitlines()
    assert "Traceback" not in stderr, stderr
    assert (code, daemon.stdout()) == (1, answer)
    assert len([line for line in lines if line.startswith("quarterdeck: ")]) == 1, stderr
    for word in words:
        assert word in lines[-1]


def start_with_a_past(daemon: Daemon) -> None:
    """A log with some events and a request that was pending when the daemon was killed."""
    daemon.start()
    for n in range(5):
        assert daemon.hook(prompt(f"prompt {n}"))[0] == 204
    daemon.hold(permission("ls"))
    daemon.until_pending(1)
    daemon.kill9()


def change(home: Path, sql: str) -> None:
    db = sqlite3.connect(home / "events.db")
    with db:
        db.execute(sql)
    db.close()


DAMAGE = {
    "another word": "UPDATE events SET body=replace(body,'prompt 1','prompt 9') WHERE kind='user.prompt'",
    "no JSON": "UPDATE events SET body='gone{' WHERE seq_no=4",
    "another shape": """UPDATE events SET body='{"x":1}' WHERE seq_no=4""",
    "data of another shape": "UPDATE events SET body=json_set(body,'$.data',json('[1]')) WHERE kind='run.start'",
    "bytes": "UPDATE events SET body=x'ff00ff' WHERE seq_no=4",
    "a missing row": "DELETE FROM events WHERE seq_no=4",
    "another hash": "UPDATE events SET hash='x' WHERE seq_no=4",
    "another last hash": "UPDATE events SET hash=x'00' WHERE seq_no=(SELECT max(seq_no) FROM events)",
    "another payload": "UPDATE events SET raw=x'00' WHERE seq_no=4",
    "a row that a test made": "INSERT INTO events SELECT seq_no+1,session_id,kind,at,body,raw,hash FROM events "
    "ORDER BY seq_no DESC LIMIT 1",
}


@pytest.mark.law("E11")
@pytest.mark.law("A11")
@pytest.mark.parametrize("sql", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_log_is_served_and_not_written(daemon: Daemon, sql: str) -> None:
    start_with_a_past(daemon)
    change(daemon.home, sql)
    with daemon.db() as db:
        rows = db.execute("SELECT * FROM events").fetchall()
    daemon.start()
    assert daemon.api("GET", "/healthz") == (200, {"status": "read_only"})
    assert "read-only" in daemon.stdout()
    for payload in (prompt("hello"), permission("ls")):
        status, answer = daemon.hook(payload)
        assert status in (204, 503)
        assert b"allow" not in answer
    with daemon.ndjson() as client:
        reply = client.ask("n1", permission("ls"))
        assert reply is not None
        assert reply["payload"] == {"action": "passthrough"}
    for request in daemon.pending():
        assert daemon.decide(request, "allow")[0] == 503
    assert daemon.api("GET", "/sessions")[0] == 200
    assert daemon.api("GET", "/requests")[0] == 200
    assert daemon.stop() == 0
    with daemon.db() as db:
        assert db.execute("SELECT * FROM events").fetchall() == rows
    assert "Traceback" not in daemon.stderr()


@pytest.mark.law("E11")
def test_damage_far_back_is_found_after_an_unclean_stop(daemon: Daemon) -> None:
    """Deeper than the rows that a start looks at."""
    daemon.start()
    with daemon.ndjson() as client:
        for n in range(600):
            client.send(f"n{n}", prompt(f"prompt {n}"))
        for _ in range(600):
            assert client.read() is not None
    daemon.kill9()
    change(daemon.home, "UPDATE events SET body=replace(body,'prompt 1','prompt 9') WHERE seq_no<10")
    daemon.start()
    until(lambda: daemon.api("GET", "/healthz")[1] == {"status": "read_only"}, what="damage")
    assert daemon.hook(prompt("hello"))[0] == 503
    assert daemon.api("GET", "/feed?limit=1")[0] == 200
    assert daemon.stop() == 0
    daemon.start()
    until(lambda: daemon.api("GET", "/healthz")[1] == {"status": "read_only"}, what="damage again")
    assert "Traceback" not in daemon.stderr()


@pytest.mark.law("E11")
def test_a_sound_log_is_found_sound_after_an_unclean_stop(daemon: Daemon) -> None:
    start_with_a_past(daemon)
    daemon.start()
    until(lambda: "the log is sound" in daemon.stderr(), what="a look over the log")
    assert daemon.stop() == 0
    assert not (daemon.home / "run" / "unclean").exists()


@pytest.mark.law("E11")
def test_damaged_views_do_not_keep_the_daemon_from_starting(daemon: Daemon) -> None:
    start_with_a_past(daemon)
    change(daemon.home, "INSERT OR REPLACE INTO snapshots SELECT max(seq_no), '{' FROM events")
    daemon.start()
    assert daemon.api("GET", "/healthz") == (200, {"status": "ok"})
    assert daemon.hook(prompt("hello"))[0] == 204


def torn_page(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


def noise(path: Path) -> None:
    path.write_bytes(os.urandom(20_000))


def no_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\0" * 100)


@pytest.mark.law("E11")
@pytest.mark.parametrize("harm", [torn_page, cut, noise, no_header])
def test_a_file_that_is_not_a_database_is_never_overwritten(daemon: Daemon, harm: Callable[[Path], None]) -> None:
    """Either it is refused by its name, or it is served read-only; it is left as it is."""
    start_with_a_past(daemon)
    database = daemon.home / "events.db"
    change(daemon.home, "PRAGMA wal_checkpoint(TRUNCATE)")
    for side in ("-wal", "-shm"):
        Path(f"{database}{side}").unlink(missing_ok=True)
    harm(database)
    before = database.read_bytes()
    refuses_or_serves(daemon, "read_only")
    assert database.read_bytes() == before


def refuses_or_serves(daemon: Daemon, health: str, meanwhile: Callable[[Daemon], None] = lambda daemon: None) -> None:
    """The daemon does not start and names its database, or it starts and reports this health."""
    daemon.begin()
    until(
        lambda: not daemon.alive() or daemon.note().get("pid") == daemon.pid,
    )
    assert "Traceback" not in daemon.stderr(), daemon.stderr()
    if daemon.alive():
        assert daemon.api("GET", "/healthz") == (200, {"status": health})
        meanwhile(daemon)
        daemon.kill9()
    else:
        assert str(daemon.home) in daemon.stderr().splitlines()[-1]


@pytest.mark.law("E12")
def test_a_log_of_a_newer_version_is_refused_and_left_alone(daemon: Daemon) -> None:
    start_with_a_past(daemon)
    change(daemon.home, "PRAGMA user_version=99")
    refuses_to_start(daemon, "events.db", "newer", "upgrade")
    with daemon.db() as db:
        assert db.execute("PRAGMA user_version").fetchone() == (99,)
        assert verify(db) is None


@pytest.mark.law("E12")
def test_a_database_of_another_program_is_refused(daemon: Daemon) -> None:
    daemon.home.mkdir(mode=0o700)
    change(daemon.home, "CREATE TABLE photos(id)")
    refuses_to_start(daemon, "events.db", "not a Quarterdeck log", "move it away")


@pytest.mark.law("E10")
@pytest.mark.law("D2")
def test_a_full_database_takes_nothing_more_and_loses_nothing(home: Path, fork_server: ForkServer) -> None:
    with Daemon(home, launch=fork_server.launch("--pages", "60")) as daemon:
        taken = 0
        while daemon.hook(prompt(f"p{taken} " + "x" * 1500))[0] == 204:
            taken += 1
            assert taken < 500
        status, answer = daemon.hook(permission("x" * 20_000))
        assert (status, b"not_recorded" in answer) == (503, True)
        with daemon.ndjson() as client:
            reply = client.ask("n1", permission("x" * 20_000))
            assert reply is not None
            assert reply["payload"] == {"action": "passthrough"}
            assert "full" in reply["error"]
        prompts = [e["data"]["prompt"].split()[0] for e in daemon.events("user.prompt")]
        assert prompts == [f"p{n}" for n in range(taken)]
        assert daemon.api("GET", "/feed?limit=1")[0] == 200
        assert daemon.stop() == 0
        with daemon.db() as db:
            assert verify(db) is None
        assert "Traceback" not in daemon.stderr()


@pytest.mark.law("E10")
@pytest.mark.law("D13")
def test_agents_waiting_on_a_full_disk_are_released_at_their_deadline_and_at_the_end(
    small_disk: Path, fork_server: ForkServer
) -> None:
    with on_disk(small_disk, fork_server, QUARTERDECK_DECIDE_WAIT_SECONDS="1") as daemon:
        held = daemon.hold(permission("ls"))
        [request] = daemon.until_pending(1)
        ballast = fill_until_refused(daemon, small_disk)
        assert daemon.decide(request, "allow")[0] in (200, 409)
        assert held.answer()[0] in (200, 204)
        ballast.unlink()
        until(lambda: daemon.hook(prompt("again"))[0] == 204, what="a disk with space")
        daemon.until_pending(0)


@pytest.fixture
def disk_of_16m(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "disk16", "16m")


@pytest.mark.law("E10")
@pytest.mark.law("D1")
@pytest.mark.law("D2")
def test_on_a_full_disk_agents_are_released_and_decisions_are_recorded(
    disk_of_16m: Path, fork_server: ForkServer
) -> None:
    with on_disk(disk_of_16m, fork_server) as daemon:
        held = [daemon.hold(permission(f"make {n}", f"s{n}")) for n in range(20)]
        requests = daemon.until_pending(20)
        assert (daemon.home / "reserve").stat().st_size == 1 << 20
        ballast = fill(disk_of_16m)
        until(lambda: daemon.api("GET", "/healthz")[1] == {"status": "nearly_full"}, what="a full disk")
        for payload in (prompt("hello"), permission("rm")):
            status, answer = daemon.hook(payload)
            assert (status, b"nearly full" in answer, b"allow" in answer) == (503, True, False)
        with daemon.ndjson() as client:
            reply = client.ask("n1", permission("rm"))
            assert reply is not None
            assert (reply["payload"], "nearly full" in reply["error"]) == ({"action": "passthrough"}, True)
        for request in requests:
            assert daemon.decide(request, "deny", message="x" * 1000)[0] == 200
        assert {decision_in(one.answer()[1]) for one in held} == {"deny"}
        assert not (daemon.home / "reserve").exists()
        ballast.unlink()
        until(lambda: daemon.hook(prompt("after"))[0] == 204, what="a disk with space")
        until(lambda: (daemon.home / "reserve").exists(), what="a new reserve")
        assert len(daemon.events("permission.decision")) == 20
        assert daemon.stop() == 0
        with daemon.db() as db:
            assert verify(db) is None
        assert "Traceback" not in daemon.stderr()


@pytest.mark.law("E10")
def test_the_log_is_written_again_once_there_is_space(small_disk: Path, fork_server: ForkServer) -> None:
    with on_disk(small_disk, fork_server) as daemon:
        assert daemon.hook(prompt("before"))[0] == 204
        held = daemon.hold(permission("ls"))
        daemon.until_pending(1)
        ballast = fill_until_refused(daemon, small_disk)
        assert daemon.api("GET", "/healthz") == (200, {"status": "nearly_full"})
        held.close()
        daemon.until_pending(0)
        ballast.unlink()
        until(lambda: daemon.hook(prompt("after"))[0] == 204, what="a disk with space")
        assert daemon.api("GET", "/healthz") == (200, {"status": "ok"})
        assert daemon.stop() == 0
        with daemon.db() as db:
            assert verify(db) is None
        assert [e["data"]["prompt"] for e in daemon.events("user.prompt")][-1] == "after"


def fill_until_refused(daemon: Daemon, disk: Path) -> Path:
    """The write-ahead log may have room left in its own file after the disk is full."""
    ballast = fill(disk)

    def refused() -> bool:
        return daemon.hook(prompt("x" * 20_000, "filler"))[0] == 503

    until(refused, what="a full disk")
    return ballast


@pytest.mark.law("E10")
def test_on_a_full_disk_no_session_starts_and_a_running_one_can_be_ended(
    disk_of_16m: Path, tmp_path: Path, fork_server: ForkServer
) -> None:
    with on_disk(disk_of_16m, fork_server) as daemon:
        assert daemon.api("POST", "/projects/trust", {"path": str(tmp_path)})[0] == 200
        body = {"cwd": str(tmp_path), "mode": "pty", "shell": True}
        status, running = daemon.api("POST", "/sessions", body)
        assert status == 201, running
        ballast = fill(disk_of_16m)
        until(lambda: daemon.api("GET", "/healthz")[1] == {"status": "nearly_full"}, what="a full disk")
        status, answer = daemon.api("POST", "/sessions", body)
        assert (status, answer["error"]["kind"], "nearly full" in answer["error"]["message"]) == (
            503,
            "not_recorded",
            True,
        )
        assert daemon.api("POST", f"/sessions/{running['session_id']}/end", {})[0] == 202
        ballast.unlink()
        until(lambda: daemon.api("GET", "/healthz")[1] == {"status": "ok"}, what="room again")
        status, again = daemon.api("POST", "/sessions", body)
        assert status == 201, again
        assert daemon.api("POST", f"/sessions/{again['session_id']}/end", {})[0] == 202


@pytest.mark.law("E10")
@pytest.mark.parametrize("pages_left", [0, 2, 5, 10, 20, 40])
def test_a_start_on_a_full_disk_reports_that_and_the_next_one_works(
    small_disk: Path, fork_server: ForkServer, pages_left: int
) -> None:
    ballast = fill(small_disk)
    os.truncate(ballast, ballast.stat().st_size - 4096 * pages_left)
    with closing(on_disk(small_disk, fork_server)) as daemon:
        refuses_or_serves(daemon, "nearly_full")
        ballast.unlink()
        daemon.start()
        assert daemon.api("GET", "/healthz") == (200, {"status": "ok"})
        assert daemon.hook(prompt("hello"))[0] == 204


@pytest.mark.law("E10")
@pytest.mark.law("E1")
def test_a_restart_on_a_full_disk_loses_nothing(small_disk: Path, fork_server: ForkServer) -> None:
    with closing(on_disk(small_disk, fork_server)) as daemon:
        start_with_a_past(daemon)
        events = daemon.events()
        ballast = fill(small_disk)
        refuses_or_serves(daemon, "nearly_full", nothing_is_held)
        ballast.unlink()
        daemon.start()
        assert daemon.events()[: len(events)] == events
        assert daemon.pending() == []


def nothing_is_held(daemon: Daemon) -> None:
    """A request from before the restart cannot be decided any more."""
    for request in daemon.pending():
        assert daemon.decide(request, "allow")[0] in (409, 503)


@pytest.mark.law("E11")
def test_a_read_only_home_is_refused(small_disk: Path, fork_server: ForkServer) -> None:
    daemon = on_disk(small_disk, fork_server)
    for folder in (daemon.home, daemon.home / "run", daemon.home / "log"):
        folder.mkdir(mode=0o700)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    refuses_to_start(daemon, str(daemon.home), "QUARTERDECK_HOME")
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)


@pytest.mark.law("A2")
def test_a_port_in_use_is_named_with_the_next_step(daemon: Daemon) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        daemon.env["QUARTERDECK_PORT"] = str(port)
        refuses_to_start(daemon, f"127.0.0.1:{port}", "runner.port in config.yaml", "qd install")


@pytest.mark.law("A2")
def test_the_port_of_the_installed_hooks_is_used_again_or_the_start_fails(daemon: Daemon) -> None:
    daemon.start()
    port = daemon.port
    daemon.stop()
    daemon.restart()
    assert daemon.port == port
    daemon.stop()
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        refuses_to_start(daemon, str(port), "qd install")


@pytest.mark.law("A2")
def test_a_second_daemon_names_the_running_one_and_leaves_it_alone(daemon: Daemon, fork_server: ForkServer) -> None:
    daemon.start()
    held = daemon.hold(permission("ls"))
    [request] = daemon.until_pending(1)
    second = Daemon(daemon.home, launch=fork_server.launch())
    refuses_to_start(second, f"pid {daemon.pid}", daemon.url, "qd stop")
    assert daemon.note()["pid"] == daemon.pid
    assert daemon.decide(request, "deny", message="no")[0] == 200
    assert decision_in(held.answer()[1]) == "deny"
    with daemon.ndjson() as client:
        assert client.ask("n1", prompt("hello")) is not None


@pytest.mark.law("A2")
def test_the_socket_of_a_killed_daemon_is_taken_over(daemon: Daemon) -> None:
    daemon.start()
    daemon.kill9()
    assert daemon.socket_path.is_socket()
    daemon.restart()
    with daemon.ndjson() as client:
        assert client.ask("n1", prompt("hello")) is not None
    assert daemon.socket_path.stat().st_mode & 0o777 == 0o600
    assert daemon.socket_path.parent.stat().st_mode & 0o777 == 0o700
    assert daemon.stop() == 0
    assert not daemon.socket_path.exists()
    assert daemon.note() == {}


def a_file(path: Path) -> None:
    path.write_text("precious")


def a_folder(path: Path) -> None:
    path.mkdir()


def a_link_to_a_file(path: Path) -> None:
    path.with_name("precious").write_text("precious")
    path.symlink_to(path.with_name("precious"))


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def a_link_to_a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path.with_name("other")))
    path.symlink_to(path.with_name("other"))


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.law("A2")
@pytest.mark.parametrize("put", [a_file, a_folder, a_link_to_a_file, a_link_to_nothing, a_link_to_a_socket, a_pipe])
def test_another_file_in_place_of_the_socket_is_not_removed(daemon: Daemon, put: Callable[[Path], None]) -> None:
    daemon.socket_path.parent.mkdir(parents=True, mode=0o700)
    put(daemon.socket_path)
    before = sorted((p.name, p.lstat().st_mode, p.lstat().st_size) for p in daemon.socket_path.parent.iterdir())
    refuses_to_start(daemon, str(daemon.socket_path), "remove it")
    after = sorted((p.name, p.lstat().st_mode, p.lstat().st_size) for p in daemon.socket_path.parent.iterdir())
    assert set(before) <= set(after)


@pytest.mark.law("A2")
def test_a_run_folder_that_is_a_link_is_refused(daemon: Daemon, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    daemon.home.mkdir(mode=0o700)
    (daemon.home / "run").symlink_to(elsewhere)
    refuses_to_start(daemon, "run", "symlink")
    assert list(elsewhere.iterdir()) == []


@pytest.mark.law("A2")
def test_a_home_too_deep_for_a_socket_is_refused(tmp_path: Path, fork_server: ForkServer) -> None:
    daemon = Daemon(tmp_path / ("deep" * 30), launch=fork_server.launch())
    refuses_to_start(daemon, "QUARTERDECK_HOME", "too long")


@pytest.mark.law("A2")
def test_a_home_open_to_others_is_closed(daemon: Daemon) -> None:
    daemon.home.mkdir(mode=0o777)
    daemon.home.chmod(0o777)
    daemon.start()
    assert daemon.home.stat().st_mode & 0o777 == 0o700
    for name in ("token", "hook-token", "events.db", "run/daemon.json", "run/hook.sock"):
        assert (daemon.home / name).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["token", "hook-token"])
def test_a_kill_while_a_secret_is_made_does_not_keep_the_daemon_down(daemon: Daemon, name: str) -> None:
    """A power cut can leave the file without its content."""
    daemon.home.mkdir(mode=0o700)
    (daemon.home / name).touch(mode=0o600)
    daemon.start()
    assert daemon.hook(prompt("hello"))[0] == 204


@pytest.mark.law("E1")
@pytest.mark.law("D2")
def test_sigterm_in_the_middle_of_work_loses_nothing_that_was_acknowledged(daemon: Daemon) -> None:
    daemon.start()
    acknowledged: list[str] = []
    held = [daemon.hold(permission(f"make {n}", f"s{n}")) for n in range(20)]
    daemon.until_pending(20)
    workers = [threading.Thread(target=work, args=(daemon, f"w{n}", acknowledged)) for n in range(4)]
    for worker in workers:
        worker.start()
    until(lambda: len(acknowledged) > 100, what="some work")
    assert daemon.stop() == 0
    for worker in workers:
        worker.join()
    prompts = {e["data"]["prompt"] for e in daemon.events("user.prompt")}
    assert set(acknowledged) <= prompts
    assert {one.answer()[0] for one in held} == {204}
    assert "Traceback" not in daemon.stderr()
    with daemon.db() as db:
        assert verify(db) is None


def work(daemon: Daemon, name: str, acknowledged: list[str]) -> None:
    """Send until the daemon is gone."""
    connection: HeldHook = daemon.hold(prompt("start", name))
    connection.answer(close=False)
    for n in range(100_000):
        try:
            connection.send(prompt(f"{name} {n}", name))
            status, _ = connection.answer(close=False)
        except OSError:
            return
        if status != 204:
            return
        acknowledged.append(f"{name} {n}")


@pytest.mark.law("D9")
def test_a_clock_that_goes_back_a_day_changes_no_order(home: Path, fork_server: ForkServer) -> None:
    jump = home.with_name("jump")
    launch = fork_server.launch("--clock-jump", "-86400", "--jump-when", str(jump))
    with Daemon(home, launch=launch) as daemon:
        assert daemon.hook(prompt("before"))[0] == 204
        jump.touch()
        assert daemon.hook(prompt("after"))[0] == 204
        prompts = [(e["data"]["prompt"], e["at"]) for e in daemon.events("user.prompt")]
        assert [words for words, _ in prompts] == ["before", "after"]
        assert prompts[0][1] > prompts[1][1]
        feed = daemon.api("GET", "/feed")[1]["events"]
        assert [e["data"]["prompt"] for e in feed if e["kind"] == "user.prompt"] == ["before", "after"]
