"""The OpenAPI document: Litestar's schema, plus scopes, errors and an example of every operation."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from typing import Any

import msgspec

from quarterdeck.api.http.endpoint import ApiEndpoint
from quarterdeck.api.operations import HUB_OPERATIONS, OPERATIONS, Operation
from quarterdeck.api.routes.queries import CURSOR
from quarterdeck.wire import write_json

PREFIX = "/api/v1"
Schema = dict[str, Any]

ERROR: Schema = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message"],
            "properties": {"kind": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}
ERROR_EXAMPLE = {"error": {"kind": "not_found", "message": "no such request: r1; see: qd requests"}}
SECURITY: Schema = {
    "token": {"type": "http", "scheme": "bearer", "description": "The owner's token, or one of `POST /tokens`."},
}


def described(schema: Schema, endpoints: Iterable[ApiEndpoint]) -> Schema:
    """The schema with errors, scopes and examples on every operation."""
    schema["components"] = {**schema.get("components", {}), "securitySchemes": SECURITY}
    schemas = schema["components"].setdefault("schemas", {})
    schemas["Error"] = ERROR
    for name in schemas.keys() & _closed_bodies(endpoints):
        schemas[name]["additionalProperties"] = False
    examples = json.loads((files("quarterdeck.api") / "examples.json").read_text(encoding="utf-8"))
    rows = {(row.method, row.path): row for row in (*OPERATIONS.values(), *HUB_OPERATIONS.values())}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            row = rows[method.upper(), path.removeprefix(PREFIX)]
            _describe(operation, row, examples.get(row.name, {}))
    return schema


def _closed_bodies(endpoints: Iterable[ApiEndpoint]) -> set[str]:
    """The names of bodies in which an unknown field is an error; Litestar's schema does not say so."""
    bodies = [one.body for one in endpoints if one.body]
    _, components = msgspec.json.schema_components(bodies)
    return {name for name, one in components.items() if one.get("additionalProperties") is False}


def _describe(operation: Schema, row: Operation, example: Schema) -> None:
    operation["security"] = [] if row.scope == "none" else [{"token": []}]
    if row.scope != "none":
        operation["x-scope"] = row.scope
    responses = {code: answer for code, answer in operation["responses"].items() if code.startswith("2")}
    for answer in responses.values():
        for content in answer.get("content", {}).values():
            content.pop("examples", None)
            content["example"] = example.get("answer")
    body = operation.get("requestBody", {}).get("content", {})
    for content in body.values():
        content.pop("examples", None)
        content["example"] = example.get("body")
    for parameter in operation.get("parameters", []):
        parameter.pop("examples", None)
        parameter["schema"] = _bounded(parameter["name"], parameter["schema"])
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}, "example": ERROR_EXAMPLE}}
    responses["4XX"] = {"description": "The request is wrong; the message says how.", "content": error}
    if row.method != "GET":
        responses["503"] = {"description": "Nothing could be recorded, so nothing was done.", "content": error}
    if row.method != "GET" and row.path.startswith("/sessions"):
        responses["502"] = {"description": "The agent's program failed; the message has its words.", "content": error}
    operation["responses"] = responses


def _bounded(name: str, schema: Schema) -> Schema:
    """The schema of a query parameter: never null, as it is left out instead; a position gets the bounds that Litestar
    does not carry over."""
    kinds = [one.get("type") for one in schema.get("oneOf", [])]
    if name in ("after", "before") and "integer" in kinds:
        return {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}
    if name == "after" and "string" in kinds:
        return {"type": "string", "pattern": CURSOR}
    some = [one for one in schema.get("oneOf", []) if one.get("type") != "null"]
    return some[0] if len(some) == 1 else schema


def page(schema: Schema) -> str:
    """The reference as plain HTML that loads nothing but Quarterdeck's own style."""
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Quarterdeck API</title>',
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="/icon.svg">',
        '<link rel="stylesheet" href="/style.css"><main>',
        f"<h1>Quarterdeck API {escape(schema['info']['version'])}</h1>",
        "<p>Send <code>Authorization: Bearer &lt;token&gt;</code>. Errors have one shape: ",
        f"<code>{escape(write_json(ERROR_EXAMPLE).decode())}</code>. ",
        '<a href="/api/v1/openapi.json">The same as OpenAPI 3.1</a>.</p>',
    ]
    for path, methods in sorted(schema["paths"].items()):
        for method, operation in methods.items():
            parts.append(_operation(path, method.upper(), operation))
    return "".join([*parts, "</main></html>"])


def _operation(path: str, method: str, operation: Schema) -> str:
    scope = operation.get("x-scope")
    lines = [
        f"<h3><code>{method} {escape(path)}</code></h3>",
        f"<p>{escape(operation.get('description') or operation.get('summary') or '')}",
        f' <span class="quiet">needs {escape(scope)}</span></p>' if scope else "</p>",
    ]
    rows = [
        f"<tr><td><code>{escape(p['name'])}</code></td><td>{escape(_kind(p['schema']))}</td></tr>"
        for p in operation.get("parameters", [])
    ]
    if rows:
        lines.append(f"<table>{''.join(rows)}</table>")
    for content in operation.get("requestBody", {}).get("content", {}).values():
        lines.append(f"<pre>{escape(_pretty(content['example']))}</pre>")
    for code, answer in operation["responses"].items():
        for content in answer.get("content", {}).values() if code.startswith("2") else ():
            lines.append(f'<p class="quiet">{escape(code)}</p><pre>{escape(_pretty(content["example"]))}</pre>')
    return "".join(lines)


def _kind(schema: Schema) -> str:
    """The type of a parameter in a word or two."""
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    if "oneOf" in schema:
        return " | ".join(_kind(one) for one in schema["oneOf"] if one.get("type") != "null")
    return str(schema.get("type", "any"))


def _pretty(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
