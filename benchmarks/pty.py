"""What a program writes into a terminal: through its host and the daemon's side of it, against a C program that only
reads the terminal."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.common import Figure, load, main, percentile
from quarterdeck.core.engine.session_messages import SessionReport, StartSession
from quarterdeck.core.model.decisions import Decision, NoOpinion
from quarterdeck.sessions.launcher import LaunchSpec, PermissionQuery
from quarterdeck.sessions.pty.launcher import PtyLauncher

MEGABYTES = int(os.environ.get("QD_BENCH_MEGABYTES", "32"))
ROUNDS = int(os.environ.get("QD_BENCH_ROUNDS", "5"))
MARK = b"\x1b[0mthe end\x1b[0m"
READER_C = r"""
#define _GNU_SOURCE
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(int argc, char **argv) {
    static char buffer[65536];
    int master;
    long total = 0, wanted = atol(argv[2]);
    struct winsize size = {40, 120, 0, 0};
    if (!forkpty(&master, NULL, NULL, &size)) { execl(argv[1], argv[1], (char *)0); _exit(1); }
    while (!memchr(buffer, '?', sizeof buffer)) if (read(master, buffer, sizeof buffer) <= 0) return 1;
    if (write(master, "go\n", 3) != 3) return 1;
    double began = now();
    for (long n; total < wanted && (n = read(master, buffer, sizeof buffer)) > 0; total += n);
    printf("%ld %.6f\n", total, now() - began);
    return total < wanted;
}
"""
READER_PYTHON = """
import os, pty, sys, time
pid, master = pty.fork()
if not pid: os.execl(sys.argv[1], sys.argv[1])
while b"?" not in os.read(master, 65536): pass
os.write(master, b"go\\n")
began, total = time.perf_counter(), 0
while total < int(sys.argv[2]): total += len(os.read(master, 65536))
print(total, time.perf_counter() - began)
"""


class SilentListener:
    """Ignores the reports of sessions."""

    def report(self, news: SessionReport) -> None: ...

    def stream(self, session_id: str, kind: str, data: Any) -> None: ...

    async def ask_permission(self, query: PermissionQuery) -> Decision:
        return NoOpinion()


def write_load(folder: Path) -> tuple[Path, int]:
    """A program that waits for a line and then shows a long coloured text; and how many bytes that is on a terminal."""
    line = b"\x1b[32m  1234 +\x1b[0m a line of a difference as agents show them, with some words in it\n"
    text = line * (MEGABYTES * 1024 * 1024 // len(line)) + MARK
    (folder / "text").write_bytes(text)
    program = folder / "program"
    program.write_text(f"#!/bin/sh\necho '?'\nread go\ncat {folder / 'text'}\nread go\n")
    program.chmod(0o700)
    return program, len(text) + text.count(b"\n")


def compiled(folder: Path) -> tuple[list[str], str]:
    """The reader to compare with, and its name."""
    source, reader = folder / "reader.c", folder / "reader"
    source.write_text(READER_C)
    compiler = shutil.which("cc")
    if compiler and not subprocess.run([compiler, "-O2", "-o", reader, source, "-lutil"], check=False).returncode:
        return [str(reader)], "a C program that reads a terminal"
    return [sys.executable, "-c", READER_PYTHON], "a Python loop that reads a terminal (no C compiler here)"


def bare(reader: list[str], program: Path, size: int) -> float:
    """Bytes a second."""
    done = subprocess.run([*reader, str(program), str(size)], check=True, capture_output=True, text=True)
    total, seconds = done.stdout.split()
    return int(total) / float(seconds)


async def relayed(folder: Path, program: Path, size: int) -> float:
    """Bytes a second, all of which arrived and in one piece."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    spec = LaunchSpec(
        agent="claude",
        program=program,
        config_dir=folder,
        environment=environment,
        hooks="",
        folder=folder / "run",
    )
    launcher = PtyLauncher(SilentListener(), spec.folder, shell=str(program))
    await launcher.launch(
        StartSession(session_id="bench", mode="pty", cwd=str(folder), by="bench", at=0.0, shell=True), spec
    )
    prompted, ended = asyncio.Event(), asyncio.Event()
    count, tail = 0, b""

    def seen(data: bytes) -> None:
        nonlocal count, tail
        count += len(data)
        tail = (tail + data)[-64:] if len(data) < 64 else data[-64:]
        if not prompted.is_set() and b"?\r\n" in data:
            prompted.set()
        if MARK in tail:
            ended.set()

    viewer = await launcher.view("bench", 120, 40, seen)
    await prompted.wait()
    count = 0
    began = time.perf_counter()
    await viewer.write(b"go\n")
    await asyncio.wait_for(ended.wait(), 120)
    seconds = time.perf_counter() - began
    await viewer.close()
    await launcher.end("bench")
    await launcher.close()
    assert count >= size, f"only {count:,} of {size:,} bytes arrived"
    return size / seconds


def figures() -> list[Figure]:
    relay, floor = [], []
    with tempfile.TemporaryDirectory(prefix="qd-") as name:
        folder = Path(name)
        program, size = write_load(folder)
        reader, against = compiled(folder)
        for _ in range(ROUNDS):
            floor.append(bare(reader, program, size))
            relay.append(uvloop.run(relayed(folder, program, size)))
    ratio = percentile([a / b for a, b in zip(relay, floor, strict=True)], 50)
    return [
        Figure(
            name="terminal relay: bytes a second, relay ÷ bare",
            value=round(ratio, 2),
            unit="×",
            against=f"{against}, {percentile(floor, 50) / 1e6:.0f} MB/s",
            goal="≥ 0.6",
            ok=ratio >= 0.6,
        ),
        Figure(
            name="terminal relay",
            value=round(percentile(relay, 50) / 1e6, 1),
            unit="MB/s",
            against=f"this machine, {load()}",
            goal="",
            ok=True,
        ),
    ]


if __name__ == "__main__":
    main(figures)
