from __future__ import annotations

import re

import pytest

from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.risk.text_signs import INLINE_CODE, SQL_STATEMENTS


def levels(signs: tuple[tuple[str, str, str], ...], text: str) -> set[str]:
    return {level for pattern, level, _ in signs if re.search(pattern, text, re.IGNORECASE)}


@pytest.mark.parametrize(
    "code",
    [
        "require('fs').rmSync('/home/me', {recursive: true})",
        "fs.rmdirSync(x)",
        "shutil.rmtree(p)",
        "os.system('id')",
        "fetch('http://x')",
    ],
)
def test_code_that_deletes_runs_or_sends_is_high(code: str) -> None:
    assert "high" in levels(INLINE_CODE, code)


def test_code_that_computes_has_no_sign() -> None:
    assert not levels(INLINE_CODE, "print(sum(range(3)))")


@pytest.mark.parametrize(
    ("statement", "level"),
    [("drop database x", "critical"), ("truncate users", "high"), ("delete from users", "high"), ("select 1", None)],
)
def test_a_statement_has_the_level_of_what_it_loses(statement: str, level: str | None) -> None:
    assert max(levels(SQL_STATEMENTS, statement), key=LEVELS.index, default=None) == level
