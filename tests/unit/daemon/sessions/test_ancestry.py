"""Processes that descend from an agent, by the process table alone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from quarterdeck.config.settings import Config
from quarterdeck.core.model.state import ProcessId
from quarterdeck.daemon.sessions.ancestry import (
    MAX_CLEARED,
    KnownAncestry,
    descendants,
    hosted_session,
    is_tmux_server,
)
from quarterdeck.drivers.registry import Drivers
from quarterdeck.system.process_table import ProcessInfo, _from_ps, process_table, read_proc, runs
from quarterdeck.system.socket_owner import holds_socket

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def table(*rows: tuple[int, int, int]) -> dict[int, ProcessInfo]:
    """Processes by pid, parent and session."""
    return {pid: ProcessInfo(ProcessId(pid, "1"), parent, session, name=f"p{pid}") for pid, parent, session in rows}


@pytest.mark.law("D14")
def test_children_and_their_children_descend_from_an_agent_and_a_neighbour_does_not() -> None:
    everyone = table((1, 0, 1), (10, 1, 10), (20, 10, 10), (30, 20, 30), (31, 30, 30), (40, 10, 10))
    assert descendants(everyone, {20: "s"}) == dict.fromkeys([20, 30, 31], "s")


@pytest.mark.law("D14")
def test_an_orphan_is_known_by_the_leader_of_its_session() -> None:
    everyone = table((1, 0, 1), (20, 1, 20), (30, 20, 30), (31, 1, 30))
    assert descendants(everyone, {20: "s"}) == dict.fromkeys([20, 30, 31], "s")


def test_children_of_a_nested_agent_belong_to_the_nested_agent() -> None:
    everyone = table((1, 0, 1), (20, 1, 20), (30, 20, 30), (31, 30, 30), (40, 20, 20))
    assert descendants(everyone, {20: "outer", 30: "inner"}) == {20: "outer", 40: "outer", 30: "inner", 31: "inner"}


def test_processes_that_are_each_others_parent_end_the_walk() -> None:
    assert descendants(table((20, 30, 30), (30, 20, 20)), {20: "s"}) == {20: "s", 30: "s"}


@pytest.mark.law("D14")
def test_a_process_without_the_tag_is_no_host_and_neither_is_one_that_only_has_the_tag() -> None:
    assert hosted_session(os.getpid(), b"HOME=/home/dev\0") is None
    assert hosted_session(os.getpid(), b"QUARTERDECK_TAG=s1\0") is None


def test_the_processes_that_were_cleared_last_are_remembered() -> None:
    known = KnownAncestry(Drivers(Config()), dict)
    cleared = [ProcessInfo(ProcessId(pid, "1"), 1, pid) for pid in range(100, 100 + MAX_CLEARED + 5)]
    for process in [*cleared, cleared[5]]:
        assert known._judge(process, None) is None
    assert list(known._cleared) == [process.id for process in [*cleared[6:], cleared[5]]]


@pytest.mark.law("S3")
def test_a_process_is_identified_by_pid_and_start_time() -> None:
    me = read_proc(os.getpid())
    assert me is not None
    assert me.parent == os.getppid()
    assert runs(me.id)
    assert not runs(ProcessId(me.pid, me.id.start + "0"))


@pytest.mark.law("S3")
def test_ps_gives_the_same_table_without_proc() -> None:
    child = subprocess.Popen(["sleep", "60"])
    first, second = _from_ps(child.pid), _from_ps(child.pid)
    assert first is not None
    assert (first, first.parent) == (second, os.getpid())
    child.kill()
    child.wait()
    assert _from_ps(child.pid) is None


@LINUX
def test_the_table_has_this_process_and_none_that_has_ended() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    found = process_table()
    assert os.getpid() in found
    assert child.pid not in found
    assert holds_socket(child.pid, "1") is False
    child.wait()


@pytest.mark.law("D14")
def test_a_process_is_no_tmux_server_without_the_socket_in_its_command_line() -> None:
    assert not is_tmux_server(os.getpid(), b"/home/a/run/sessions/tmux")
    assert not is_tmux_server(os.getpid(), b"")
