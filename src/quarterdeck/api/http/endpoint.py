"""Endpoints: the functions that carry out operations, called by REST and by commands of the WebSocket alike."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from types import ModuleType, NoneType
from typing import Annotated, Any, get_args, get_type_hints

import msgspec
from litestar import Request, Response
from litestar.datastructures import State
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter
from msgspec import NODEFAULT, Meta, Struct

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.http.principal import caller_of
from quarterdeck.api.http.resource import on_machine, require_machine, without_items
from quarterdeck.api.http.validation_words import field_problem
from quarterdeck.api.operations import HUB_OPERATIONS, OPERATIONS
from quarterdeck.core.model.payload import ID

BODY = "data"
RUNNER = "runner_id"
Machine = Annotated[str | None, QueryParameter()]
Id = Annotated[str, Meta(pattern=rf"^{ID.pattern}\Z")]
IDS: Mapping[str, Any] = {
    "session_id": Id,
    "client_id": Id,
    "rule_id": Annotated[str, Meta(min_length=1, max_length=4096)],
}
"""The types of ids among the arguments of a command. In a path any other text is just an unknown id."""


class ApiEndpoint:
    """An operation with the function that carries it out. The positional parameters of the function are what it needs
    of the daemon: the caller, the backend or parts of it. Its keyword-only parameters are the client's: `data` is the
    body, the others come from the path or the query. A command has them all in one object."""

    def __init__(self, name: str, run: Callable[..., Awaitable[Any]], options: Mapping[str, Any]) -> None:
        self.operation = OPERATIONS.get(name) or HUB_OPERATIONS[name]
        self.function = run
        self.options = options
        self._hints = get_type_hints(run, include_extras=True)
        parameters = inspect.signature(run).parameters.values()
        self._needs = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
        self._parameters = [p for p in parameters if p.kind is p.KEYWORD_ONLY]

    async def call(self, backend: Any, given: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
        """Carry out the operation. What is not `given` is taken from the backend."""
        needs = [given[name] if name in given else getattr(backend, name) for name in self._needs]
        return on_machine(await self.function(*needs, **arguments), backend.runner_id)

    async def serve(
        self, backend: Any, given: Mapping[str, Any], runner_id: str | None, arguments: Mapping[str, Any]
    ) -> Any:
        """Answer a call of REST about this machine, or in a list about all."""
        if not self.operation.is_list:
            require_machine(runner_id, backend.runner_id)
        answer = await self.call(backend, given, arguments)
        return answer if runner_id in (None, backend.runner_id) else without_items(answer)

    def route(self) -> HTTPRouteHandler:
        """The REST route."""

        async def serve(
            state: State, request: Request[Any, Any, Any], runner_id: str | None = None, **arguments: Any
        ) -> Any:
            given = {"backend": state.backend, "credentials": state.credentials, "request": request}
            given["clients"] = state.clients
            given["caller"] = caller_of(request, state.rate_limit)
            if arguments.get(BODY) is not None:
                given["body"] = await request.json()
                self._read(given["body"], self.body)  # Litestar would take 1 for true, and "1" for 1
            return await self.serve(state.backend, given, runner_id, arguments)

        takes_machine = self.operation.is_list or self.operation.is_of_one_machine
        own = [p for p in inspect.signature(serve).parameters.values() if p.kind is not p.VAR_KEYWORD]
        own = [p for p in own if takes_machine or p.name != RUNNER]
        serve.__name__, serve.__doc__ = self.function.__name__, self.function.__doc__
        machine = {RUNNER: Machine} if takes_machine else {}
        serve.__annotations__ = (
            {"state": State, "request": Request[Any, Any, Any]}
            | machine
            | {name: hint for name, hint in self._hints.items() if name not in self._needs}
        )
        setattr(serve, "__signature__", inspect.Signature([*own, *self._parameters]))  # noqa: B010 mypy knows no such attribute
        row = self.operation
        return HTTPRouteHandler(
            re.sub(r"\{(\w+)\}", r"{\1:str}", row.path),
            http_method=HttpMethod(row.method),
            status_code=row.status,
            opt={"scope": row.scope, "reads": row.reads},
            summary=row.title,
            **self.options,
        )(serve)

    @property
    def body(self) -> type[Struct] | None:
        """The type of the body."""
        hint = get_type_hints(self.function).get(BODY)  # without `Annotated`: a struct, or a struct and None
        return next((kind for kind in get_args(hint) or (hint,) if kind is not NoneType), None)

    @cached_property  # a struct is a new class each time
    def arguments(self) -> type[Struct]:
        """The arguments of the command: the fields of the body, with the parameters beside it."""
        names = {p.name: name for p in self._parameters if (name := _query_name(self._hints[p.name]))}
        fields = [
            (p.name, IDS.get(p.name, self._hints[p.name]), NODEFAULT if p.default is p.empty else p.default)
            for p in self._parameters
            if p.name != BODY
        ]
        if self.operation.is_of_one_machine:
            fields.append((RUNNER, str | None, None))
        bases = (self.body,) if self.body else None
        return msgspec.defstruct(
            self.operation.name, fields, bases=bases, rename=names, kw_only=True, forbid_unknown_fields=True
        )

    def read_arguments(self, arguments: Mapping[str, Any]) -> Any:
        """The arguments of a command, checked; ApiError when they are wrong."""
        return self._read(arguments, self.arguments)

    def _read(self, value: Any, kind: Any) -> Any:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            problem = field_problem(str(error), get_type_hints(kind))
            raise ApiError(422, "invalid", str(problem), field=problem.field) from None

    def values(self, arguments: Struct) -> dict[str, Any]:
        """The keyword arguments of the function, from those of a command."""
        return {p.name: arguments if p.name == BODY else getattr(arguments, p.name) for p in self._parameters}

    async def command(self, backend: Any, given: Mapping[str, Any], arguments: Struct) -> Any:
        """Carry out the operation as a command, with arguments that were read; returns what REST would."""
        require_machine(getattr(arguments, RUNNER, None), backend.runner_id)
        result = await self.call(backend, given, self.values(arguments))
        return result.content if isinstance(result, Response) else result


def _query_name(hint: Any) -> str | None:
    """The name of a parameter in the query, where it differs."""
    return next((one.name for one in getattr(hint, "__metadata__", ()) if getattr(one, "name", None)), None)


def endpoint(name: str, **options: Any) -> Callable[[Callable[..., Awaitable[Any]]], ApiEndpoint]:
    """Make a function the endpoint of an operation. `options` are those of Litestar's route."""
    return lambda run: ApiEndpoint(name, run, options)


def endpoints_in(*modules: ModuleType) -> dict[str, ApiEndpoint]:
    """The endpoints that these modules define, by name."""
    found = [one for module in modules for one in vars(module).values() if isinstance(one, ApiEndpoint)]
    return {one.operation.name: one for one in found}
