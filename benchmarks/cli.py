"""The help of `qd`, and the completion of session names from a running daemon: seconds, beside a bare Python."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.common import Figure, interleave, main
from tests.support.daemon import Daemon, prompt

ROUNDS = 20
SESSIONS = 50
GOALS = {"qd --help": 0.15, "completion of sessions": 0.1}


def _run(home: Path, *words: str) -> None:
    environ = {**os.environ, "QUARTERDECK_HOME": str(home)}
    subprocess.run([sys.executable, *words], env=environ, check=True, stdout=subprocess.DEVNULL)


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, Daemon(Path(folder) / "home") as daemon:
        for number in range(SESSIONS):
            daemon.hook(prompt("hello", f"{number:08d}-session"))
        qd = partial(_run, daemon.home, "-m", "quarterdeck")
        seconds = interleave(
            {
                "python": partial(_run, daemon.home, "-c", "pass"),
                "qd --help": partial(qd, "--help"),
                "completion of sessions": partial(qd, "__complete", "send", ""),
            },
            ROUNDS,
        )
    base = median(seconds["python"])
    return [
        Figure(
            name=name,
            value=round(median(seconds[name]), 3),
            unit="s",
            against=f"python -c pass: {base:.3f} s",
            goal=f"at most {goal} s",
            ok=median(seconds[name]) <= goal,
        )
        for name, goal in GOALS.items()
    ]


if __name__ == "__main__":
    main(figures)
