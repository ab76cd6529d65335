"""`make bench`: every figure, as a table and in results/latest.json."""

from __future__ import annotations

from importlib import import_module

from benchmarks.common import Figure, main, write_results

NAMES = (
    "claude_turn",
    "cli",
    "counts",
    "forwarder",
    "hook_post",
    "fanout",
    "idle",
    "live",
    "page",
    "projects",
    "pty",
    "reduce",
    "restart",
    "sdk",
    "shell",
    "simulate",
    "store",
    "tui",
    "verdict",
)


def figures() -> list[Figure]:
    made: list[Figure] = []
    for name in NAMES:
        print(f"{name} …", flush=True)
        made += import_module(f"benchmarks.{name}").figures()
    write_results(made)
    return made


if __name__ == "__main__":
    main(figures)
