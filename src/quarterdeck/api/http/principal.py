"""The caller of an operation, and its name in the record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from litestar.connection import ASGIConnection
from msgspec import Struct

from quarterdeck.api.http.credentials import Principal, RateLimit
from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.core.model.payload import safe_id

NOBODY = Principal(name="", kind="none", scopes=frozenset(), secret="")


class Caller(Struct, frozen=True, kw_only=True):
    """The caller of an operation. `name` is its name in the record, with the surface that it claims to be. Without a
    `rate_limit` its decisions were counted before."""

    principal: Principal
    name: str
    rate_limit: RateLimit | None = None

    def require(self, scope: str) -> None:
        """Raise when the credential lacks a scope."""
        if not self.principal.may(scope):
            raise ApiError(403, "forbidden", f"this token lacks the scope {scope}", scope=scope)

    def count_decisions(self, count: int = 1) -> None:
        """Count decisions; raise when there were too many in a short time."""
        if self.rate_limit is not None and not self.rate_limit.take(self.principal.secret, count):
            raise ApiError(429, "too_fast", "too many decisions at once; wait a few seconds")


def new_caller(principal: Principal, surface: str, rate_limit: RateLimit | None = None) -> Caller:
    """The caller with this credential and surface."""
    name = f"{principal.name} via {surface}" if surface else principal.name
    return Caller(principal=principal, name=name, rate_limit=rate_limit)


def caller_of(connection: ASGIConnection[Any, Any, Any, Any], rate_limit: RateLimit | None = None) -> Caller:
    """The caller that the guard authenticated; nobody on a route that needs no credential."""
    scope: Mapping[str, Any] = connection.scope
    surface = safe_id(connection.headers.get("x-quarterdeck-client"), "")
    return new_caller(scope.get("qd_principal", NOBODY), surface, rate_limit)
