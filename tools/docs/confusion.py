"""Tables of what rules and risk make of the corpora in tests/corpus, against what a person expects."""

from __future__ import annotations

from collections import Counter

from quarterdeck.core.model.risk_levels import LEVELS
from tests.support import corpora
from tools.docs.tables import table

ANSWERS = ("allow", "ask", "deny")


def rule_table() -> str:
    """The answers of the rules by the answer a person expects."""
    pairs = Counter((expected, found) for _, expected, found in corpora.expected_outcomes())
    rows = [(f"expected: {expected}", pairs, expected) for expected in ANSWERS]
    lines = [[name, *(str(found[expected, answer]) for answer in ANSWERS)] for name, found, expected in rows]
    for name, names in (("held-out evasions", corpora.EVASIONS), ("held-out everyday lines", corpora.EVERYDAY)):
        counts = corpora.held_out_outcomes(*names)
        lines.append([name, *(str(counts[answer]) for answer in ANSWERS)])
    return table(("", "allowed", "asked", "denied"), lines)


def risk_table() -> str:
    """The levels of everyday and of dangerous commands."""
    lists = (("everyday commands", corpora.RISK_CORPORA), ("dangerous commands", corpora.DANGEROUS_CORPORA))
    counted = [(name, corpora.risk_levels(*names)) for name, names in lists]
    return table(("", *LEVELS), [[name, *(str(counts[level]) for level in LEVELS)] for name, counts in counted])
