"""`make bench`: every figure, as a table and in results/latest.json."""

from __future__ import annotations

from benchmarks import (
    fanout,
    forwarder,
    hook_post,
    projects,
    pty,
    reduce,
    restart,
    sdk,
    shell,
    simulate,
    store,
    tui,
    verdict,
)
from benchmarks.common import Figure, main, write_results


def figures() -> list[Figure]:
    made: list[Figure] = []
    for benchmark in (
        forwarder,
        hook_post,
        fanout,
        projects,
        pty,
        reduce,
        restart,
        sdk,
        shell,
        simulate,
        store,
        tui,
        verdict,
    ):
        print(f"{benchmark.__name__} …", flush=True)
        made += benchmark.figures()
    write_results(made)
    return made


if __name__ == "__main__":
    main(figures)
