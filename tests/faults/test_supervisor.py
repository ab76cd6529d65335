"""The supervisor of a program ends all its processes with it, whichever of them is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.sessions.host import supervisor
from quarterdeck.system.process_table import read_proc
from tests.support.daemon import PATIENCE_SECONDS, until

pytestmark = pytest.mark.faults

SUPERVISOR = (sys.executable, "-I", "-S", supervisor.__file__)
STUBBORN = "trap '' TERM HUP INT; while :; do sleep 60; done"
TREE = f"""
note() {{ echo $1 >> "$PIDS"; }}
note $$
sleep 600 & note $!
setsid sh -c "echo \\$\\$ >> '$PIDS'; {STUBBORN}" &
(setsid sh -c 'sleep 600 & echo $! >> "$PIDS"; exit' &)
"""
STUBBORN_TREE = TREE + STUBBORN.replace("INT;", 'INT; touch "$PIDS.deaf";')
"""A tree below a program that ignores signals once there is a file."""


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    return tmp_path / "pids"


@pytest.fixture(autouse=True)
def nobody_is_left(pids: Path) -> Iterator[None]:
    """After each test all processes of the tree have ended, whatever happened to the supervisor."""
    yield
    found = [int(pid) for pid in pids.read_text().split()] if pids.exists() else []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (left := [pid for pid in found if read_proc(pid)]) and time.monotonic() < deadline:
        time.sleep(0.01)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


def keep(pids: Path, script: str, *options: str) -> subprocess.Popen[bytes]:
    environment = {"PATH": os.environ["PATH"], "PIDS": str(pids)}
    return subprocess.Popen([*SUPERVISOR, *options, "--", "sh", "-c", script], env=environment, stdout=subprocess.PIPE)


def until_four(pids: Path) -> list[int]:
    def found() -> list[int]:
        return [int(pid) for pid in pids.read_text().split()] if pids.exists() else []

    until(lambda: len(found()) == 4, what="the tree")
    return found()


def until_deaf(pids: Path) -> None:
    until_four(pids)
    until(pids.with_name("pids.deaf").exists, what="a program that ignores signals")


def lower(of: subprocess.Popen[bytes]) -> int:
    return int(Path(f"/proc/{of.pid}/task/{of.pid}/children").read_text())


def ended(kept: subprocess.Popen[bytes]) -> int:
    with kept:
        return kept.wait(PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143)]
)
def test_it_exits_with_the_code_of_the_program(pids: Path, script: str, code: int) -> None:
    assert ended(keep(pids, script)) == code


def test_a_program_that_is_not_there_is_127() -> None:
    result = subprocess.run([*SUPERVISOR, "--", "/nonexistent/claude"], capture_output=True, timeout=PATIENCE_SECONDS)
    assert (result.returncode, result.stderr) == (127, b"/nonexistent/claude: No such file or directory\n")


def test_the_program_has_the_given_environment_and_only_three_descriptors() -> None:
    with open("/dev/null") as inherited:
        result = subprocess.run(
            [*SUPERVISOR, "--", "sh", "-c", "env; ls /proc/self/fd"],
            env={"PATH": os.environ["PATH"], "QUARTERDECK_TAG": "t1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            pass_fds=[inherited.fileno()],
            timeout=PATIENCE_SECONDS,
        )
    *env, _, _, _, _ = words = result.stdout.decode().split()
    assert {word.partition("=")[0] for word in env} <= {"PATH", "QUARTERDECK_TAG", "PWD", "OLDPWD", "SHLVL", "_"}
    assert words[-4:] == ["0", "1", "2", "3"]  # the last one is the listing's own


@pytest.mark.law("S2")
@pytest.mark.parametrize("end", ["exit 3", "kill -9 $$"])
def test_when_the_program_ends_all_it_started_ends(pids: Path, end: str) -> None:
    """Also what left its session or lost its parent, and what ignores a TERM."""
    ended(keep(pids, f"{TREE} while [ $(wc -l < $PIDS) -lt 4 ]; do sleep 0.01; done; {end}"))
    assert [pid for pid in until_four(pids) if read_proc(pid)] == []


@pytest.mark.law("S2")
def test_a_program_that_ignores_every_signal_ends_after_a_term(pids: Path) -> None:
    kept = keep(pids, STUBBORN_TREE)
    until_deaf(pids)
    kept.terminate()
    assert ended(kept) == 128 + signal.SIGKILL


@pytest.mark.law("S2")
def test_when_the_supervisor_is_killed_the_tree_ends(pids: Path) -> None:
    kept = keep(pids, STUBBORN_TREE)
    until_deaf(pids)
    kept.kill()
    ended(kept)


@pytest.mark.law("S2")
def test_when_its_lower_half_is_killed_the_tree_ends(pids: Path) -> None:
    kept = keep(pids, STUBBORN_TREE)
    until_deaf(pids)
    os.kill(lower(kept), signal.SIGKILL)
    assert ended(kept) == 128 + signal.SIGKILL


@pytest.mark.law("S2")
def test_when_the_parent_is_killed_the_tree_ends(pids: Path) -> None:
    start = "import subprocess, sys, time; subprocess.Popen(sys.argv[1:]); time.sleep(60)"
    kept = [*SUPERVISOR, "--die-with-parent", "--", "sh", "-c", STUBBORN_TREE]
    environment = {"PATH": os.environ["PATH"], "PIDS": str(pids)}
    with subprocess.Popen([sys.executable, "-c", start, *kept], env=environment) as parent:
        until_deaf(pids)
        parent.kill()


def test_a_parent_that_is_dead_already_is_noticed(pids: Path) -> None:
    kept = keep(pids, "while :; do sleep 60; done", "--die-with-parent=1")
    assert ended(kept) == 128 + signal.SIGTERM


def test_the_end_of_the_thread_that_started_it_is_not_its_parents_death(pids: Path) -> None:
    start = """
import subprocess, sys, threading
kept = []
thread = threading.Thread(target=lambda: kept.append(subprocess.Popen(sys.argv[1:])))
thread.start(); thread.join()
print(kept[0].wait(), flush=True)
"""
    kept = [*SUPERVISOR, "--die-with-parent", "--", "sh", "-c", "sleep 0.3; exit 5"]
    result = subprocess.run([sys.executable, "-c", start, *kept], capture_output=True, timeout=PATIENCE_SECONDS)
    assert result.stdout == b"5\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_signals_are_passed_on(pids: Path, number: signal.Signals) -> None:
    script = f"trap 'exit 9' {number.name[3:]}; echo up; while :; do sleep 0.01; done"
    kept = keep(pids, script)
    assert kept.stdout is not None
    assert kept.stdout.readline() == b"up\n"
    kept.send_signal(number)
    assert ended(kept) == 9


@pytest.mark.law("S3")
def test_a_recycled_pid_is_never_signalled() -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        found = supervisor.read_process(other.pid)
        assert found is not None
        supervisor.send(
            supervisor.SupervisedProcess(other.pid, found.parent, str(int(found.start) - 1), "S"), signal.SIGKILL
        )
        supervisor.send(supervisor.SupervisedProcess(2**22 + 1, 1, found.start, "S"), signal.SIGKILL)
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(0.2)
        supervisor.send(found, signal.SIGKILL)
        assert other.wait(PATIENCE_SECONDS) == -signal.SIGKILL
