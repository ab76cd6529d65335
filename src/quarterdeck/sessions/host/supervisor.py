"""Runs one program and ends with it everything that it started. Standard library only, imports nothing of ours.

    python -I -S keeper.py [--die-with-parent[=PID]] -- ARGV…

The program has our stdin, stdout, stderr and environment, and nothing else of ours; we exit with its code, or with 128
and its signal. INT, HUP and TERM are passed on; whoever has not ended GRACE_SECONDS after a TERM is killed. When the
program has ended, all its descendants get a TERM and LAST_SECONDS later a KILL: on Linux we are their subreaper, so
that whoever left its parents is known as well. With --die-with-parent our parent's death counts as a TERM; PID says who
that is, or else whoever it is when we look.

We are two processes, one above the other: when one is killed, the other ends the tree. When the lower one is killed the
program dies at once. Other systems have no subreaper: there only the process group hears of the end.
"""

from __future__ import annotations

import errno
import os
import signal
import sys

TYPE_CHECKING = False  # typing's own would cost more than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from ctypes import CDLL
    from typing import NoReturn

GRACE_SECONDS = 3.0
LAST_SECONDS = 1.0
TICK_SECONDS = 0.05
GIVE_UP_SECONDS = 5.0
"""How long what cannot be killed, such as another user's process, is waited for."""

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
FROM_KERNEL = 0x80
PARENT_DIED = signal.SIGUSR1
PASSED_ON = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
HEARD = (*PASSED_ON, PARENT_DIED, signal.SIGCHLD, signal.SIGALRM)
HAS_PROC = os.path.exists("/proc/self/stat")


class Proc:
    """A process in the table: its start time tells it from others under its number."""

    __slots__ = ("parent", "pid", "start", "state")

    def __init__(self, pid: int, parent: int, start: str, state: str) -> None:
        self.pid, self.parent, self.start, self.state = pid, parent, start, state


def main(argv: list[str]) -> NoReturn:
    options, program = read_arguments(argv)
    parent = options.get("--die-with-parent")
    die_with = int(parent or os.getppid()) if parent is not None else 0
    above = os.getpid()

    wake = os.isatty(0)

    def lower() -> NoReturn:
        status = keep(lambda: execute(program), die_with=above, grace_seconds=GRACE_SECONDS, wake=wake)
        os._exit(exit_code(status))

    os._exit(exit_code(keep(lower, die_with=die_with, grace_seconds=2 * GRACE_SECONDS, wake=wake)))


def read_arguments(argv: list[str]) -> tuple[dict[str, str], list[str]]:
    at = argv.index("--") if "--" in argv else len(argv)
    options = {name: value for name, _, value in (word.partition("=") for word in argv[:at])}
    if not argv[at + 1 :] or options.keys() - {"--die-with-parent"}:
        sys.exit("usage: keeper.py [--die-with-parent[=PID]] -- ARGV…")
    return options, argv[at + 1 :]


def execute(program: list[str]) -> NoReturn:
    """Become the program."""
    try:
        os.execvpe(program[0], program, environment())  # noqa: S606 a list of words that no shell reads
    except OSError as error:
        os.write(2, f"{program[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def environment() -> dict[bytes, bytes]:
    """What we were given: Python may have put a locale of its own choice into the environment."""
    try:
        with open("/proc/self/environ", "rb") as file:
            given = file.read()
    except OSError:
        return dict(os.environb)
    return {name: value for name, equals, value in (v.partition(b"=") for v in given.split(b"\0")) if equals and name}


def exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def keep(
    run: Callable[[], NoReturn],
    *,
    die_with: int,
    grace_seconds: float,
    wake: bool,
    spare: int = 2,
    started: Callable[[int], None] = lambda child: None,
) -> int:
    """Run it in a child until that has ended, then end all that descends from us; its status. With `die_with` the death
    of that parent ends everything. `wake` lets it go on when it stops itself, as in a terminal without a shell nobody
    else could. The descriptor `spare` is not closed in the child."""
    listen()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    if die_with:
        prctl(PR_SET_PDEATHSIG, PARENT_DIED)
    child = start(run, spare)
    started(child)
    status = follow(child, die_with, grace_seconds, wake)
    end_all()
    return status


def listen() -> None:
    """Signals are waited for, never handled: none can come between two steps."""
    for number in HEARD:
        signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)


def start(run: Callable[[], NoReturn], spare: int = 2) -> int:
    keeper = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        for number in (*HEARD, signal.SIGTSTP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != keeper:
            os._exit(128 + signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        close_others(spare)
        run()
    finally:
        os._exit(126)


def close_others(*spare: int) -> None:
    """All but stdin, stdout, stderr and these."""
    kept = sorted({2, *spare})
    for low, high in zip(kept, [*kept[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(low + 1, high)


def follow(child: int, die_with: int, grace_seconds: float, wake: bool) -> int:
    """Pass on what we hear until the child has ended; its status. It is ours to wait for, so its number is its own."""
    ending = False
    polls = die_with and not HAS_PROC
    while (status := reap(child, wake)) is None:
        orphaned = bool(die_with) and os.getppid() != die_with
        if orphaned and not ending:
            ending = True
            os.kill(child, signal.SIGTERM)
            signal.setitimer(signal.ITIMER_REAL, grace_seconds)
        elif polls and not ending:
            signal.setitimer(signal.ITIMER_REAL, 1.0)
        number, from_terminal = wait()
        if number in PASSED_ON and not from_terminal:
            os.kill(child, number)
        if number == signal.SIGTERM and not ending:
            ending = True
            signal.setitimer(signal.ITIMER_REAL, grace_seconds)
        elif number == signal.SIGALRM and ending:
            os.kill(child, signal.SIGKILL)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return status


def wait() -> tuple[int, bool]:
    """The next signal, and whether a terminal sent it: then all in its group have heard it already."""
    if not hasattr(signal, "sigwaitinfo"):
        return signal.sigwait(HEARD), False
    heard = signal.sigwaitinfo(HEARD)
    return heard.si_signo, heard.si_signo == signal.SIGINT and heard.si_code == FROM_KERNEL


def reap(child: int, wake: bool) -> int | None:
    """Wait for all that have ended; the status of the child if it is among them."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG | (os.WUNTRACED if wake else 0))
        except ChildProcessError:
            return found
        if pid and os.WIFSTOPPED(status):
            if os.WSTOPSIG(status) not in (signal.SIGTTIN, signal.SIGTTOU):
                os.kill(pid, signal.SIGCONT)
        elif pid == child:
            found = status
        if not pid:
            return found


def end_all() -> None:
    """End all that descends from us, and wait for it. None is left when we have no child: whoever loses its parent
    becomes ours."""
    if not HAS_PROC:
        end_group()
        return
    passed = 0.0
    while has_children() and passed < LAST_SECONDS + GIVE_UP_SECONDS:
        kill = passed >= LAST_SECONDS
        if kill or not passed:
            for proc in descendants():
                send(proc, signal.SIGKILL if kill else signal.SIGTERM)
        passed += TICK_SECONDS
        signal.setitimer(signal.ITIMER_REAL, TICK_SECONDS)
        while wait()[0] != signal.SIGALRM and has_children():
            pass


def end_group() -> None:
    if os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)


def has_children() -> bool:
    """Whether anyone is left below us; who has ended is waited for."""
    while True:
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                return True
        except ChildProcessError:
            return False


def descendants() -> list[Proc]:
    """All below us that run, parents first."""
    below: dict[int, list[Proc]] = {}
    for proc in table():
        below.setdefault(proc.parent, []).append(proc)
    found = below.get(os.getpid(), [])
    for proc in found:
        found += below.pop(proc.pid, [])
    return [proc for proc in found if proc.state not in "ZXx"]


def table() -> Iterator[Proc]:
    for name in os.listdir("/proc"):
        if name.isdigit() and (proc := look(int(name))):
            yield proc


def look(pid: int) -> Proc | None:
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fields = os.read(file, 4096).rpartition(b")")[2].split()
    except OSError:
        return None
    finally:
        os.close(file)
    return Proc(pid, int(fields[1]), fields[19].decode(), fields[0].decode())


def send(proc: Proc, number: int) -> None:
    """Signal this very process, and never another one under its number: the descriptor is of one process, and the
    table is read again when we hold it. Where there are no such descriptors only our own children are signalled, whose
    numbers cannot come again before we wait for them."""
    try:
        held = os.pidfd_open(proc.pid)
    except OSError as error:
        if error.errno == errno.ENOSYS and is_same(proc) and proc.parent == os.getpid():
            os.kill(proc.pid, number)
        return
    try:
        if is_same(proc):
            signal.pidfd_send_signal(held, number)
            signal.pidfd_send_signal(held, signal.SIGCONT)
    except OSError:
        pass
    finally:
        os.close(held)


def is_same(proc: Proc) -> bool:
    found = look(proc.pid)
    return found is not None and found.start == proc.start


def prctl(option: int, value: int) -> None:
    """Where the system has no such thing, nothing."""
    if sys.platform == "linux":
        libc().prctl(option, value, 0, 0, 0)


def libc() -> CDLL:
    if not _loaded:
        import ctypes

        _loaded.append(ctypes.CDLL(None))
    return _loaded[0]


_loaded: list[CDLL] = []

if __name__ == "__main__":
    main(sys.argv[1:])
