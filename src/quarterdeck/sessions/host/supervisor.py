"""Runs one program and, when it ends, ends everything that it started. Standard library only, no Quarterdeck imports.

    python -I -S supervisor.py [--die-with-parent[=PID]] -- ARGV…

The program gets the supervisor's stdin, stdout, stderr and environment and no other descriptor; the supervisor exits
with the program's code, or with 128 plus its signal. INT, HUP and TERM are forwarded; a program that still runs
GRACE_SECONDS after a TERM is killed. When it has ended, all its descendants get a TERM and LAST_SECONDS later a KILL:
on Linux the supervisor is their subreaper, so that it also finds those whose parents have ended. With
--die-with-parent the death of the parent counts as a TERM; PID names the parent (default: the parent at the start).

The supervisor is two processes, one above the other: when one is killed, the other ends the tree. When the lower one is
killed, the program dies at once. Other systems have no subreaper: there only the process group is ended.
"""

from __future__ import annotations

import errno
import os
import signal
import sys

TYPE_CHECKING = False  # importing typing would cost more time than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from ctypes import CDLL
    from typing import NoReturn

GRACE_SECONDS = 3.0
LAST_SECONDS = 1.0
TICK_SECONDS = 0.05
GIVE_UP_SECONDS = 5.0
"""How long to wait for a process that cannot be killed, such as another user's."""

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
FROM_KERNEL = 0x80
PARENT_DIED = signal.SIGUSR1
FORWARDED = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
SIGNALS = (*FORWARDED, PARENT_DIED, signal.SIGCHLD, signal.SIGALRM)
HAS_PROC = os.path.exists("/proc/self/stat")


class SupervisedProcess:
    """A process in the table, identified by its pid and start time, since pids are reused. The supervisor reads the
    table by itself: it runs with the standard library alone, so it cannot import `system.process_table`."""

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
        status = supervise(lambda: execute(program), die_with=above, grace_seconds=GRACE_SECONDS, wake=wake)
        os._exit(exit_code(status))

    os._exit(exit_code(supervise(lower, die_with=die_with, grace_seconds=2 * GRACE_SECONDS, wake=wake)))


def read_arguments(argv: list[str]) -> tuple[dict[str, str], list[str]]:
    at = argv.index("--") if "--" in argv else len(argv)
    options = {name: value for name, _, value in (word.partition("=") for word in argv[:at])}
    if not argv[at + 1 :] or options.keys() - {"--die-with-parent"}:
        sys.exit("usage: supervisor.py [--die-with-parent[=PID]] -- ARGV…")
    return options, argv[at + 1 :]


def execute(program: list[str]) -> NoReturn:
    """Replace this process by the program."""
    try:
        os.execvpe(program[0], program, original_environment())  # noqa: S606 a list of words that no shell reads
    except OSError as error:
        os.write(2, f"{program[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def original_environment() -> dict[bytes, bytes]:
    """The environment at the start of this process: Python may have added a locale of its own choice."""
    try:
        with open("/proc/self/environ", "rb") as file:
            block = file.read()
    except OSError:
        return dict(os.environb)
    return {name: value for name, equals, value in (v.partition(b"=") for v in block.split(b"\0")) if equals and name}


def exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def supervise(
    run: Callable[[], NoReturn],
    *,
    die_with: int,
    grace_seconds: float,
    wake: bool,
    spare: int = 2,
    started: Callable[[int], None] = lambda child: None,
) -> int:
    """Run a function in a child until it has ended, then end all descendants of this process; returns the child's
    status. With `die_with` the death of that parent ends everything. `wake` continues the child when it stops itself:
    in a terminal without a shell no one else could. The descriptor `spare` stays open in the child."""
    block_signals()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    if die_with:
        prctl(PR_SET_PDEATHSIG, PARENT_DIED)
    child = fork_child(run, spare)
    started(child)
    status = wait_for_child(child, die_with, grace_seconds, wake)
    end_all()
    return status


def block_signals() -> None:
    """Block the signals: they are waited for, never handled, so that none comes between two steps."""
    for number in SIGNALS:
        signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def fork_child(run: Callable[[], NoReturn], spare: int = 2) -> int:
    parent = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        for number in (*SIGNALS, signal.SIGTSTP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(128 + signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        close_others(spare)
        run()
    finally:
        os._exit(126)


def close_others(*spare: int) -> None:
    """Close all descriptors but stdin, stdout, stderr and these."""
    kept = sorted({2, *spare})
    for low, high in zip(kept, [*kept[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(low + 1, high)


def wait_for_child(child: int, die_with: int, grace_seconds: float, wake: bool) -> int:
    """Forward signals until the child has ended; returns its status. Its pid cannot be reused before it is reaped
    here."""
    ending = False
    polls = die_with and not HAS_PROC
    while (status := reap_children(child, wake)) is None:
        orphaned = bool(die_with) and os.getppid() != die_with
        if orphaned and not ending:
            ending = True
            os.kill(child, signal.SIGTERM)
            signal.setitimer(signal.ITIMER_REAL, grace_seconds)
        elif polls and not ending:
            signal.setitimer(signal.ITIMER_REAL, 1.0)
        number, from_terminal = next_signal()
        if number in FORWARDED and not from_terminal:
            os.kill(child, number)
        if number == signal.SIGTERM and not ending:
            ending = True
            signal.setitimer(signal.ITIMER_REAL, grace_seconds)
        elif number == signal.SIGALRM and ending:
            os.kill(child, signal.SIGKILL)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return status


def next_signal() -> tuple[int, bool]:
    """The next signal, and True if a terminal sent it: then its whole process group has received it already."""
    if not hasattr(signal, "sigwaitinfo"):
        return signal.sigwait(SIGNALS), False
    received = signal.sigwaitinfo(SIGNALS)
    return received.si_signo, received.si_signo == signal.SIGINT and received.si_code == FROM_KERNEL


def reap_children(child: int, wake: bool) -> int | None:
    """Reap all children that have ended; returns the status of this child if it is among them."""
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
    """End all descendants, and wait for them. None is left when this process has no child: a descendant whose parent
    ends becomes its child."""
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
        while next_signal()[0] != signal.SIGALRM and has_children():
            pass


def end_group() -> None:
    if os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)


def has_children() -> bool:
    """True if a child still runs; those that have ended are reaped."""
    while True:
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                return True
        except ChildProcessError:
            return False


def descendants() -> list[SupervisedProcess]:
    """All running descendants of this process, parents first."""
    below: dict[int, list[SupervisedProcess]] = {}
    for proc in all_processes():
        below.setdefault(proc.parent, []).append(proc)
    found = below.get(os.getpid(), [])
    for proc in found:
        found += below.pop(proc.pid, [])
    return [proc for proc in found if proc.state not in "ZXx"]


def all_processes() -> Iterator[SupervisedProcess]:
    for name in os.listdir("/proc"):
        if name.isdigit() and (proc := read_process(int(name))):
            yield proc


def read_process(pid: int) -> SupervisedProcess | None:
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
    return SupervisedProcess(pid, int(fields[1]), fields[19].decode(), fields[0].decode())


def send(proc: SupervisedProcess, number: int) -> None:
    """Signal this very process, never another one with its pid: a pidfd belongs to one process, and the table is read
    again while it is open. Without pidfds only children are signalled, whose pids cannot be reused before they are
    reaped."""
    try:
        pidfd = os.pidfd_open(proc.pid)
    except OSError as error:
        if error.errno == errno.ENOSYS and is_same(proc) and proc.parent == os.getpid():
            os.kill(proc.pid, number)
        return
    try:
        if is_same(proc):
            signal.pidfd_send_signal(pidfd, number)
            signal.pidfd_send_signal(pidfd, signal.SIGCONT)  # a stopped process would not act on it
    except OSError:
        pass
    finally:
        os.close(pidfd)


def is_same(proc: SupervisedProcess) -> bool:
    found = read_process(proc.pid)
    return found is not None and found.start == proc.start


def prctl(option: int, value: int) -> None:
    """Call prctl on Linux; other systems do not have it."""
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
