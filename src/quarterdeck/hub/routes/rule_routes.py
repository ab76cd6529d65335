"""Routes of rules: those with the scope `hub` are kept here, any other is one of the machine that is named."""

from __future__ import annotations

from typing import Any

import msgspec

from quarterdeck.api.http.error_responses import applied, invalid
from quarterdeck.api.http.principal import Caller
from quarterdeck.api.routes.rules import KNOWN, rule_spec
from quarterdeck.api.routes.tokens import OkView
from quarterdeck.api.views.rules import NewRule
from quarterdeck.core.model.rule import HUB_PREFIX
from quarterdeck.hub.hub_backend import HubBackend
from quarterdeck.hub.routes.forwarded import ForwardedEndpoint
from quarterdeck.hub.runners.machine_calls import Reply
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.rule_view import CreatedRule, RuleView, rule_view
from quarterdeck.wire import write_json

Json = dict[str, Any]


class RuleListEndpoint(ForwardedEndpoint):
    """The rules of the hub, once, and those of its machines."""

    async def _forward(self, backend: HubBackend, caller: Caller, args: Json, runner_id: str | None) -> Reply:
        if runner_id not in (None, backend.runner_id):
            return await super()._forward(backend, caller, args, runner_id)
        found: Json = {"rules": [], "findings": [], "next": None}
        if runner_id is None:
            found = msgspec.json.decode((await super()._forward(backend, caller, args, None)).body)
        own = [_view(backend, rule_view(rule, None)) for rule in backend.rules.all()]
        findings = [finding.text for finding in await backend.rules.findings()]
        return Reply(200, write_json(with_common(own, findings, found)))


class NewRuleEndpoint(ForwardedEndpoint):
    """A new rule: of the hub, or of the machine that is named."""

    async def _forward(self, backend: HubBackend, caller: Caller, args: Json, runner_id: str | None) -> Reply:
        if args.get("scope") != "hub":
            return await super()._forward(backend, caller, args, runner_id)
        _require_every_machine(backend, runner_id)
        reply = applied(await backend.rules.add(rule_spec(msgspec.convert(args, NewRule)), caller.name))
        assert reply.rule is not None
        found = [one.text for one in await backend.rules.findings() if reply.rule.rule_id in one.rule_ids]
        view = _view(backend, rule_view(reply.rule, None))
        return Reply(201, write_json(struct_of(CreatedRule, view, also_decided=[], findings=found)))


class RuleRemovalEndpoint(ForwardedEndpoint):
    """The end of a rule: of the hub's, or of one of the machine that is named."""

    async def _forward(self, backend: HubBackend, caller: Caller, args: Json, runner_id: str | None) -> Reply:
        rule_id = args["rule_id"]
        is_own = backend.rules.named(rule_id) is not None
        if not is_own and runner_id != backend.runner_id and (runner_id or not rule_id.startswith(HUB_PREFIX)):
            return await super()._forward(backend, caller, args, runner_id)
        _require_every_machine(backend, runner_id)
        applied(await backend.rules.remove(rule_id, caller.name), see=KNOWN)
        return Reply(200, write_json(OkView()))


def with_common(own: list[RuleView], findings: list[str], found: Json) -> Json:
    """The rules of machines with those of the hub first. A machine's copy of a rule of the hub only adds its hits."""
    known = {rule.rule_id: rule for rule in own}
    rest = []
    for row in found["rules"]:
        rule = known.get(row["rule_id"])
        if rule is None:
            rest.append(row)
        elif row["hits"]:
            rule.hits += row["hits"]
            rule.last_hit_at = max(row["last_hit_at"], rule.last_hit_at or 0.0)
    return {**found, "rules": [*own, *rest], "findings": list(dict.fromkeys([*findings, *found["findings"]]))}


def _view(backend: HubBackend, view: RuleView) -> RuleView:
    view.runner_id = backend.runner_id
    return view


def _require_every_machine(backend: HubBackend, runner_id: str | None) -> None:
    if runner_id not in (None, backend.runner_id):
        raise invalid("runner_id", "a rule of the hub applies on every machine; leave it out")
