"""Who calls, as the record names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from litestar import Request
from litestar.connection import ASGIConnection

from quarterdeck.api.http.credentials import Principal
from quarterdeck.core.model.payload import safe_id


def principal_of(connection: ASGIConnection[Any, Any, Any, Any]) -> Principal:
    """Whom the guard let in."""
    scope: Mapping[str, Any] = connection.scope
    principal: Principal = scope["qd_principal"]
    return principal


def by(request: Request[Any, Any, Any]) -> str:
    """The name under which the caller stands in the record, with the surface it says it is."""
    surface = safe_id(request.headers.get("x-quarterdeck-client"), "")
    return f"{principal_of(request).name} via {surface}" if surface else principal_of(request).name
