"""Run the matrix: `python -m tools.gate_matrix --times 10 --results FILE` goes on where the file ends."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import cast

import msgspec

from quarterdeck.agents.claude.hooks import SUPPORTED
from tests.support.claude import claude_197, claude_325
from tools.gate_matrix.faults import FAULTS, Fault
from tools.gate_matrix.results import Row, table
from tools.gate_matrix.scene import IDLE, PENDING, RUNNING, Call, Outcome, Scene, Waiting, Watch
from tools.gate_matrix.sessions import PTY, SDK, TMUX, Session

GATES = ("assist", "enforce")
LACKING = "-dac_override,-dac_read_search"
PROGRAMS = {"2.1.325": claude_325, "2.1.197": claude_197}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--results", type=Path, default=Path("gate-matrix.jsonl"))
    parser.add_argument("--version", choices=SUPPORTED, action="append")
    parser.add_argument("--gate", choices=GATES, action="append")
    parser.add_argument("--fault", choices=FAULTS, action="append")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no trial after this time")
    args = parser.parse_args()
    _give_up_rights()
    deadline = time.monotonic() + args.seconds
    done = read(args.results)
    wanted = [
        (trial, version, gate, fault)
        for trial in range(1, args.times + 1)
        for version in args.version or SUPPORTED
        for gate in args.gate or GATES
        for fault in args.fault or FAULTS
    ]
    made = {(row.trial, row.version, row.gate, row.fault) for row in done}
    with args.results.open("ab") as file, ExitStack() as stack:
        scene, running = None, ("", "")
        for trial, version, gate, fault in wanted:
            if (trial, version, gate, fault) in made or time.monotonic() > deadline:
                continue
            if scene is None or running != (version, gate):
                stack.close()
                scene, running = stack.enter_context(_scene(version, gate)), (version, gate)
            try:
                outcomes = list(_trial(scene, FAULTS[fault], allow=trial % 2 == 0))
            except Exception:
                traceback.print_exc()
                print(f"no result: {version} {gate} {fault} {trial}", file=sys.stderr, flush=True)
                stack.close()
                scene = None
                continue
            for outcome in outcomes:
                fields = msgspec.structs.asdict(outcome)
                row = Row(version=version, gate=gate, fault=fault, trial=trial, **fields)
                done.append(row)
                file.write(msgspec.json.encode(row) + b"\n")
            file.flush()
            print(table(done[-len(outcomes) :]).splitlines()[1], flush=True)
            if not FAULTS[fault].heals:
                stack.close()
                scene = None
    print(table(done))


def _scene(version: str, gate: str) -> Scene:
    cli = PROGRAMS[version]()
    if cli is None:
        raise SystemExit(f"Claude Code {version} is not here; run: make parts")
    return Scene(cli, enforce=gate == "enforce")


def _trial(scene: Scene, fault: Fault, *, allow: bool) -> Iterator[Outcome]:
    waiting = list(scene.pending(allow))
    calling = list(scene.about_to_call())
    with scene.settled([*(session for session, _ in calling), *(session for session, *_ in waiting)]):
        with cast("AbstractContextManager[None]", fault.make(scene)):
            watches = [(session, scene.watch(session, call)) for session, call in calling]
            for _, call in calling:
                call.make()
            yield from (_denied(session, watch) for session, watch in watches if fault.answers or session.kind != SDK)
            yield scene.headless()
            if fault.answers:
                yield from map(scene.started, (PTY, TMUX, SDK))
            if not fault.heals:
                yield from _answered(scene, waiting, allow)
        for session, watch in watches:
            if session.kind == SDK and not fault.answers:  # without a terminal, its question waits for the next daemon
                if not watch.is_over:
                    watch.began = time.monotonic()
                yield _denied(session, watch)
        if fault.ends_for_good:
            yield from (
                _waited(session, call, *scene.released(session, call).outcome()) for session, call, _ in waiting
            )
        elif fault.heals:
            yield from _answered(scene, waiting, allow)


def _denied(session: Session, watch: Watch) -> Outcome:
    what, seconds = watch.outcome()
    return Outcome(kind=session.kind, age=RUNNING, state=IDLE, what=what, seconds=seconds)


def _answered(scene: Scene, waiting: list[Waiting], allow: bool) -> Iterator[Outcome]:
    watches = [scene.back(request) for *_, request in waiting]
    for (session, call, request), watch in zip(waiting, watches, strict=True):
        what, seconds = watch.outcome()
        if what == "back":
            what = scene.obeyed(call, request, allow)
        yield _waited(session, call, what, seconds)


def _waited(session: Session, call: Call, what: str, seconds: float) -> Outcome:
    ran = "ran" if what == "released" and call.ran else what
    return Outcome(kind=session.kind, age=RUNNING, state=PENDING, what=ran, seconds=seconds)


def read(file: Path) -> list[Row]:
    """The results of earlier runs."""
    return [msgspec.json.decode(line, type=Row) for line in file.read_bytes().splitlines()] if file.exists() else []


def _give_up_rights() -> None:
    """Root reads what nobody may read, so a run of root goes on without that right."""
    if os.getuid() == 0 and "QD_MATRIX_LACKING" not in os.environ:
        if (setpriv := shutil.which("setpriv")) is None:
            raise SystemExit("as root this needs setpriv, to make a home unreadable")
        os.environ["QD_MATRIX_LACKING"] = LACKING
        program = [setpriv, "--bounding-set", LACKING, "--inh-caps", LACKING, sys.executable, "-m", "tools.gate_matrix"]
        os.execv(setpriv, [*program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
