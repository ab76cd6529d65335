"""The OpenAPI document: complete, valid, and with valid examples."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any, cast

import jsonschema
import pytest

from quarterdeck.api.app import create_api, schema_of
from quarterdeck.api.http.error_responses import STATUS
from quarterdeck.api.http.guard import WITHOUT_CREDENTIAL
from quarterdeck.api.openapi import page
from quarterdeck.api.operations import OPERATIONS as TABLE
from tools.docs.examples import FILE, examples_text

SCHEMA = schema_of(create_api(cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, None)))
OPERATIONS = [(path, method) for path, methods in SCHEMA["paths"].items() for method in methods]


def holds(value: Any, schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator({**schema, "components": SCHEMA["components"]}).validate(value)


def test_it_is_openapi_3_1() -> None:
    assert SCHEMA["openapi"].startswith("3.1")


@pytest.mark.law("A1")
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_operation_has_its_scope_and_a_valid_example(path: str, method: str) -> None:
    operation = SCHEMA["paths"][path][method]
    assert operation["summary"]
    assert operation["description"]
    assert path in WITHOUT_CREDENTIAL or operation["x-scope"]
    assert operation["responses"]["4XX"]
    answers = [a for code, a in operation["responses"].items() if code.startswith("2")]
    assert answers
    shown = [c for a in answers for c in a["content"].values()]
    shown += [*operation.get("requestBody", {}).get("content", {}).values()]
    for content in shown:
        assert content["example"] is not None
        holds(content["example"], content["schema"])


def test_every_operation_of_rest_is_in_the_document() -> None:
    served = {(method.upper(), path.removeprefix("/api/v1")) for path, method in OPERATIONS}
    assert served == {(row.method, row.path) for row in TABLE.values() if row.path}


@pytest.mark.skipif(not (shutil.which("tmux") or os.environ.get("CI")), reason="one example is a session in tmux")
def test_the_examples_are_those_of_a_daemon_today() -> None:
    assert set(json.loads(FILE.read_text())) == {name for name, row in TABLE.items() if row.path}
    assert FILE.read_text() == examples_text(), "run: make docs"


@pytest.mark.parametrize(("path", "method"), [one for one in OPERATIONS if one[0].startswith("/api/v1/sessions")])
def test_failures_of_session_commands_are_documented(path: str, method: str) -> None:
    documented = {int(code) for code in SCHEMA["paths"][path][method]["responses"] if code.startswith("5")}
    assert documented == ({code for code in STATUS.values() if code >= 500} if method == "post" else set())


def test_the_page_shows_every_operation_and_loads_nothing_foreign() -> None:
    shown = page(SCHEMA)
    for path, method in OPERATIONS:
        assert f"{method.upper()} {path}" in shown
    assert "<script" not in shown
    assert "http://" not in shown.replace("http://127.0.0.1:4180/", "")
