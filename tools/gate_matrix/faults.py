"""Faults of an installation: each is made while sessions run, and put right again."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.daemon import until
from tools.gate_matrix.scene import Scene


@contextmanager
def away(path: Path) -> Iterator[None]:
    """A file or folder under another name."""
    other = path.with_name(f"{path.name}-away")
    path.rename(other)
    try:
        yield
    finally:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)  # what was made in its place meanwhile
        path.unlink(missing_ok=True)
        other.rename(path)


@contextmanager
def home_renamed(scene: Scene) -> Iterator[None]:
    with away(scene.home):
        yield


@contextmanager
def home_gone(scene: Scene) -> Iterator[None]:
    """Deleted for good: the daemon that runs has the only copy of what is open."""
    shutil.rmtree(scene.home)
    yield


@contextmanager
def home_unreadable(scene: Scene) -> Iterator[None]:
    """Needs a process without root's right to read everything."""
    mode = scene.home.stat().st_mode & 0o777
    scene.home.chmod(0)
    try:
        if os.access(scene.home, os.R_OK):
            raise SystemExit("this user reads what nobody may read: run the matrix without CAP_DAC_OVERRIDE")
        yield
    finally:
        scene.home.chmod(mode)


@contextmanager
def plugin_gone(scene: Scene) -> Iterator[None]:
    with away(scene.home / "claude-plugin"), away(scene.owner.claude.config / "plugins"):
        yield


@contextmanager
def python_gone(scene: Scene) -> Iterator[None]:
    with away(scene.python):
        yield


@contextmanager
def forwarder_gone(scene: Scene) -> Iterator[None]:
    with away(scene.home / "hook.py"), away(scene.home / "forwarder.py"):
        yield


@contextmanager
def daemon_killed(scene: Scene) -> Iterator[None]:
    scene.daemon.kill9()
    try:
        yield
    finally:
        scene.daemon.start()


@contextmanager
def daemon_stopped(scene: Scene) -> Iterator[None]:
    """As by `qd stop`: what waits is released."""
    scene.daemon.stop()
    try:
        yield
    finally:
        scene.daemon.start()


@contextmanager
def daemon_restarting(scene: Scene) -> Iterator[None]:
    scene.daemon.terminate()
    scene.daemon.ended()
    try:
        yield
    finally:
        scene.daemon.start()


@contextmanager
def daemon_hung(scene: Scene) -> Iterator[None]:
    os.kill(scene.daemon.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(scene.daemon.pid, signal.SIGCONT)


@contextmanager
def daemon_upgraded(scene: Scene) -> Iterator[None]:
    """The next daemon runs from other files, and its forwarder is another one."""
    scene.daemon.terminate()
    scene.daemon.ended()
    try:
        yield
    finally:
        scene.upgrade()
        scene.daemon.start()


@contextmanager
def disk_full(scene: Scene) -> Iterator[None]:
    ballast = scene.home.parent / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    until(lambda: scene.daemon.api("GET", "/healthz")[1] != {"status": "ok"}, what="a full disk")
    try:
        yield
    finally:
        ballast.unlink()
        until(lambda: scene.daemon.api("GET", "/healthz")[1] == {"status": "ok"}, what="a disk with room")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """`answers`: the daemon answers its API meanwhile. `ends_for_good`: it released what waited. `heals`: the same home
    works again afterwards."""

    make: Callable[[Scene], object]
    answers: bool = False
    ends_for_good: bool = False
    heals: bool = True


FAULTS = {
    "home renamed": Fault(make=home_renamed, answers=True),
    "home unreadable": Fault(make=home_unreadable, answers=True),
    "plugin copy gone": Fault(make=plugin_gone, answers=True),
    "Python gone": Fault(make=python_gone, answers=True),
    "forwarder gone": Fault(make=forwarder_gone, answers=True),
    "daemon killed": Fault(make=daemon_killed),
    "daemon stopped": Fault(make=daemon_stopped, ends_for_good=True),
    "daemon hung": Fault(make=daemon_hung),
    "restart by SIGTERM": Fault(make=daemon_restarting),
    "upgraded": Fault(make=daemon_upgraded),
    "disk full": Fault(make=disk_full, answers=True),
    "home gone": Fault(make=home_gone, answers=True, heals=False),
}
