"""The corpora of shell lines with what rules and risk make of them: for the tests, and for the tables in docs/."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from quarterdeck.core.model.tool_kinds import ToolKind, ToolTraits
from quarterdeck.core.risk.assess import risk_of
from quarterdeck.core.rules.rulebook import Rulebook
from tests.support.rulebook import CWD, HOME, rule, runs
from tests.support.shell_corpus import CORPUS, Rules, corpus

EXPECTED = {"+": "allow", "-": "deny", "?": "ask"}


def _held_out(name: str) -> tuple[str, ...]:
    return tuple(path.name for path in sorted(CORPUS.glob(f"held_out_{name}*.txt")))


RISK_CORPORA = _held_out("risk_everyday")
DANGEROUS_CORPORA = _held_out("risk_dangerous")
EVASIONS = _held_out("evasions")
EVERYDAY = _held_out("everyday")
_SHELL = ToolTraits(kind=ToolKind.SHELL)


def rulebook_of(made: Rules) -> Rulebook:
    """The rules of a corpus as a rulebook, without invalid ones, which a person could not add either."""
    texts = [
        f"{effect} Bash({' '.join(words)}{':*' if open_end else ''})"
        for effect in ("allow", "ask", "deny")
        for words, open_end in getattr(made, effect)
        if words
    ]
    return Rulebook.of(map(rule, texts))


def outcome(made: Rules, line: str) -> str:
    """The answer of these rules: allow, deny or ask."""
    effect = rulebook_of(made).verdict(runs(line), 1.0).effect
    return effect if effect in ("allow", "deny") else "ask"


def expected_outcomes() -> Iterator[tuple[str, str, str]]:
    """Yield every line of the rules' corpora: the line, the answer a person expects, and the answer it gets."""
    for made, line in corpus("shell_everyday.txt"):
        text = line[1:].strip()
        yield text, EXPECTED[line[:1]], outcome(made, text)
    for made, line in corpus("shell_bypasses.txt"):
        yield line, "ask", outcome(made, line)


def held_out(*names: str) -> Iterator[tuple[Rules, str]]:
    """Yield every line of these held-out lists with the rules above it."""
    for name in names:
        yield from corpus(name)


def held_out_outcomes(*names: str) -> Counter[str]:
    """How often the held-out lines of these lists get each answer."""
    return Counter(outcome(made, line) for made, line in held_out(*names))


def risk_levels(*names: str) -> Counter[str]:
    """How many lines of these lists have each level."""
    lines = [line for name in names for _, line in corpus(name)]
    return Counter(risk_of(_SHELL, "Bash", {"command": line}, CWD, HOME).level for line in lines)


__all__ = ["CORPUS", "expected_outcomes", "held_out", "held_out_outcomes", "outcome", "risk_levels", "rulebook_of"]
