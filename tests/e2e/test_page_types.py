"""The page's scripts under the TypeScript compiler."""

from __future__ import annotations

import pytest

from tools.web.typecheck import COMPILER, problems

pytestmark = pytest.mark.e2e


def test_the_scripts_of_the_page_have_no_type_errors() -> None:
    if not COMPILER.exists():
        pytest.skip("the TypeScript compiler is not here: run make parts")
    assert problems() == ""
