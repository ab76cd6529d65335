"""The served description: complete, valid, and true to the examples it gives."""

from __future__ import annotations

from typing import Any, cast

import jsonschema
import pytest

from quarterdeck.api.app import create_api, schema_of
from quarterdeck.api.openapi import page

SCHEMA = schema_of(create_api(cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, None)))
OPERATIONS = [(path, method) for path, methods in SCHEMA["paths"].items() for method in methods]


def holds(value: Any, schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator({**schema, "components": SCHEMA["components"]}).validate(value)


def test_it_is_openapi_3_1() -> None:
    assert SCHEMA["openapi"].startswith("3.1")


@pytest.mark.law("A1")
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_operation_says_its_scope_and_shows_a_true_example(path: str, method: str) -> None:
    operation = SCHEMA["paths"][path][method]
    assert operation["summary"]
    assert operation["description"]
    assert path == "/healthz" or operation["x-scope"]
    assert operation["responses"]["4XX"]
    answers = [a for code, a in operation["responses"].items() if code.startswith("2")]
    assert answers
    shown = [c for a in answers for c in a["content"].values()]
    shown += [*operation.get("requestBody", {}).get("content", {}).values()]
    for content in shown:
        assert content["example"] is not None
        holds(content["example"], content["schema"])


def test_the_page_shows_every_operation_and_loads_nothing_foreign() -> None:
    shown = page(SCHEMA)
    for path, method in OPERATIONS:
        assert f"{method.upper()} {path}" in shown
    assert "<script" not in shown
    assert "http://" not in shown.replace("http://127.0.0.1:4180/", "")
