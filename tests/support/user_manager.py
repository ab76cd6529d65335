"""A real systemd user manager of its own: in a mount namespace with its own /run, and in a cgroup of its own, whose
processes are all ended after it. The person's own manager is never asked.

A user manager moves every process of the cgroup that it is started in. So it is started only once it is alone in a new
cgroup, and a process is ended only while it is seen in that cgroup."""

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest

from tests.support.daemon import PATIENCE_SECONDS, until

SYSTEMD = next(filter(Path.exists, map(Path, ("/usr/lib/systemd/systemd", "/lib/systemd/systemd"))), Path("/nowhere"))
_numbers = itertools.count()

SET_UP = """
set -e
umount -l /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo $$ > "/sys/fs/cgroup$CGROUP/cgroup.procs"
grep -qx "0::$CGROUP" /proc/self/cgroup
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/systemd/system
mkdir -m 700 -p "$XDG_RUNTIME_DIR"
unset CGROUP
exec "$SYSTEMD" --user
"""
"""systemd runs as a user manager only where the machine seems to be booted with it: /run/systemd/system is there."""


def require_systemd() -> None:
    """Skip where no user manager can be run; a failure where CI is set."""
    missing = [name for name in ("systemctl", "unshare", "nsenter") if not shutil.which(name)]
    reason = f"{', '.join(missing)} is missing" if missing or not SYSTEMD.exists() else ""
    reason = reason or ("" if os.getuid() == 0 else "a mount namespace needs root")
    if reason and os.environ.get("CI") and os.getuid() == 0:
        pytest.fail(f"{reason}: run tools/parts.sh")
    if reason:
        pytest.skip(reason)


class UserManager:
    """The manager, with a scratch HOME. `run` runs a command where the manager is seen."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.cgroup = f"/quarterdeck-test-{os.getpid()}-{next(_numbers)}"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": f"/run/user/{os.getuid()}",
        }
        self._log = folder / "systemd.log"
        self._mount = Path(tempfile.mkdtemp(prefix="qd-cgroup-"))

    def __enter__(self) -> Self:
        env = {**self.env, "CGROUP": self.cgroup, "SYSTEMD": str(SYSTEMD), "SYSTEMD_LOG_TARGET": "console"}
        subprocess.run(["mount", "-t", "cgroup2", "cgroup2", self._mount], check=True)
        self._root.mkdir()
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", SET_UP]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            until(self._is_ready, every=0.05, what="the user manager")
        except BaseException:
            self.close()
            raise
        return self

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, self._log.read_text()
        return self.run("systemctl", "--user", "is-system-running", check=False).stdout.strip() in (
            "running",
            "degraded",
        )

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the manager and every process that it, or what it started, left."""
        self._process.kill()
        self._process.wait()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while pids := self.pids():
            for pid in pids:
                with suppress(ProcessLookupError):
                    self._kill(pid)
            assert time.monotonic() < deadline, f"left behind: {pids}"
            time.sleep(0.02)
        until(self._is_removed, every=0.05, what="the removal of its cgroup")
        subprocess.run(["umount", self._mount], check=False)
        self._mount.rmdir()

    def _is_removed(self) -> bool:
        """Remove the empty cgroups, the inner ones first; one whose last process is just exiting cannot be yet."""
        for folder in sorted(self._root.glob("**/"), key=lambda folder: -len(folder.parts)):
            with suppress(OSError):
                folder.rmdir()
        return not self._root.exists()

    def _kill(self, pid: int) -> None:
        """Kill a process that still is in this manager's cgroup."""
        with suppress(FileNotFoundError):
            lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
            if any(line == f"0::{self.cgroup}" or line.startswith(f"0::{self.cgroup}/") for line in lines):
                os.kill(pid, signal.SIGKILL)

    @property
    def _root(self) -> Path:
        return self._mount / self.cgroup.lstrip("/")

    def pids(self) -> list[int]:
        """Every process below the manager, under whatever parent, and the manager itself."""
        files = self._root.glob("**/cgroup.procs")
        return [int(line) for file in files for line in file.read_text().split()]

    def command(self, *words: str) -> Sequence[str]:
        """A command line that runs where the manager is seen."""
        return ["nsenter", "--mount", "--target", str(self._process.pid), *words]

    def run(self, *words: str, check: bool = True, **env: str) -> "subprocess.CompletedProcess[str]":
        environ = {**self.env, **env}
        done = subprocess.run(
            self.command(*words), env=environ, capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )
        assert not check or done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return done

    def systemctl(self, *words: str) -> str:
        return self.run("systemctl", "--user", "--no-pager", *words).stdout
