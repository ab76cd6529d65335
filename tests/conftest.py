"""Settings shared by all tests, and `--laws`: which test shows which law, and whether it holds."""

from __future__ import annotations

import gc
import os
import re
import signal
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.scratch import leave_repositories

settings.register_profile(
    "everyday",
    max_examples=25,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile("fuzz", parent=settings.get_profile("everyday"), max_examples=50_000, derandomize=False)
settings.load_profile(os.environ.get("QD_HYPOTHESIS", "everyday"))

LAWS = Path(__file__).parent.parent / "docs" / "laws.md"
outcomes: dict[str, str] = {}
shown_by: dict[str, list[str]] = defaultdict(list)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """A shell that runs something in the background has it ignore Ctrl-C, and so would all that the tests start. What
    they write is in no repository, wherever the temporary folder is."""
    leave_repositories(config)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--laws", action="store_true", help="print every law with its tests")


def known_laws() -> list[str]:
    """The ids of docs/laws.md, in its order."""
    body = LAWS.read_text(encoding="utf-8").partition("## Decisions")[2].partition("## Not promised")[0]
    return re.findall(r"(?:^|\s)([DEHAIRS]\d+) (?=[A-Z\[`a-z0-9])", body)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    laws = set(known_laws())
    for item in items:
        for mark in item.iter_markers("law"):
            if mark.args[0] not in laws:
                raise pytest.UsageError(f"{item.nodeid}: there is no law {mark.args[0]}")
            shown_by[mark.args[0]].append(item.nodeid)


def pytest_collection_finish() -> None:
    """Everything imported by now stays until the end: leave it out of every later garbage collection, which would
    otherwise be a quarter of the time that the tests of the terminal take."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        outcomes[report.nodeid] = report.outcome


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--laws"):
        return
    terminalreporter.section("laws")
    for law in known_laws():
        tests = sorted({node.partition("[")[0] for node in shown_by[law]})
        results = {outcomes.get(node, "not run") for node in shown_by[law]}
        word = "no test" if not tests else "holds" if results == {"passed"} else ", ".join(sorted(results))
        terminalreporter.line(f"{law:<4} {word}")
        for test in tests:
            terminalreporter.line(f"       {test}")
