"""Rules at a hub: its own are kept here, those of machines go to the machine that is named."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.core.rules.file_format import RuleSpec
from quarterdeck.hub.routes.hub_routes import HUB_COMMANDS, HUB_ROUTES
from quarterdeck.hub.routes.rule_routes import with_common
from quarterdeck.link.messages import QueryResultMessage, RemoteCommand, RemoteQuery, RulesMessage
from quarterdeck.wire import write_json
from tests.support.hub_parts import HubParts, hub_parts, person

DENY = {"effect": "deny", "pattern": "Bash(rm:*)", "scope": "hub"}


async def called(hub: HubParts, name: str, runner_id: str | None = None, body: Any = None, **arguments: Any) -> Any:
    """The answer of REST."""
    given = {"caller": person(), "body": body}
    return await HUB_ROUTES[name].serve(hub.backend, given, runner_id, arguments)


async def test_a_rule_of_the_hub_is_made_listed_and_removed_here(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner = await hub.joined("a")
        answer = await called(hub, "add_rule", body=DENY)
        made = json.loads(answer.content)
        assert (answer.status_code, made["scope"], made["created_by"]) == (201, "hub", "ann via tui")
        assert (made["runner_id"], made["also_decided"], made["findings"]) == ("hub-1", [], [])
        assert [one.rule_id for one in runner.last(RulesMessage).rules] == [made["rule_id"]]
        [listed] = json.loads((await called(hub, "list_rules", "hub-1")).content)["rules"]
        assert listed == {name: value for name, value in made.items() if name in listed}
        with pytest.raises(ApiError) as again:
            await called(hub, "add_rule", body=DENY)
        assert (again.value.code, again.value.body["error"]["rule_id"]) == (409, made["rule_id"])
        with pytest.raises(ApiError):
            await called(hub, "remove_rule", "a-1", rule_id=made["rule_id"])
        assert (await called(hub, "remove_rule", rule_id=made["rule_id"])).status_code == 200
        with pytest.raises(ApiError) as gone:
            await called(hub, "remove_rule", rule_id=made["rule_id"])
        assert gone.value.code == 404
        assert runner.last(RulesMessage).rules == []
        assert not any(isinstance(one, RemoteCommand | RemoteQuery) for one in runner.sent)


async def test_the_command_of_the_socket_makes_one_too(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        endpoint = HUB_COMMANDS["add_rule"]
        await endpoint.command(hub.backend, {"caller": person(), "args": DENY}, endpoint.read_arguments(DENY))
        assert [rule.pattern for rule in hub.rules.all()] == ["Bash(rm:*)"]


async def test_a_bad_pattern_or_a_named_machine_is_refused(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        await hub.joined("a")
        for body, runner_id, field in ((DENY | {"pattern": "Bash("}, None, "pattern"), (DENY, "a-1", "runner_id")):
            with pytest.raises(ApiError) as refused:
                await called(hub, "add_rule", runner_id, body)
            assert (refused.value.code, refused.value.body["error"]["field"]) == (422, field)
        assert hub.rules.all() == []


async def test_a_rule_of_another_scope_goes_to_the_machine(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        await hub.joined("a")
        runner = await hub.joined("b")
        call = asyncio.create_task(called(hub, "add_rule", "b-1", DENY | {"scope": "user"}))
        while not any(isinstance(one, RemoteCommand) for one in runner.sent):
            await asyncio.sleep(0)
        assert runner.last(RemoteCommand).args == DENY | {"scope": "user"}
        assert hub.rules.all() == []
        call.cancel()
        await asyncio.wait([call])
        with pytest.raises(ApiError) as refused:
            await called(hub, "remove_rule", rule_id="r_1")
        assert refused.value.body["error"]["field"] == "runner_id"


async def test_the_list_names_a_rule_of_the_hub_once_with_the_hits_of_all_machines(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        rule = (await hub.rules.add(RuleSpec(effect="deny", pattern="Bash(rm:*)", scope="hub"), "ann")).rule
        assert rule is not None
        runner = await hub.joined("a")
        call = asyncio.create_task(called(hub, "list_rules"))
        while not any(isinstance(one, RemoteQuery) for one in runner.sent):
            await asyncio.sleep(0)
        rows = [
            {"rule_id": rule.rule_id, "hits": 3, "last_hit_at": 9.0},
            {"rule_id": "r_1", "hits": 0, "last_hit_at": None},
        ]
        body = Raw(write_json({"rules": rows, "findings": ["one"], "next": None}))
        query = runner.last(RemoteQuery)
        hub.calls.finish_query(QueryResultMessage(id=query.id, ok=True, status=200, body=body))
        answer = json.loads((await call).content)
        assert [(one["rule_id"], one["runner_id"]) for one in answer["rules"]] == [
            (rule.rule_id, "hub-1"),
            ("r_1", "a-1"),
        ]
        assert (answer["rules"][0]["hits"], answer["rules"][0]["last_hit_at"]) == (3, 9.0)
        assert (answer["findings"], answer["missing"]) == (["one"], [])


def test_a_finding_of_several_machines_is_said_once() -> None:
    assert with_common([], ["x"], {"rules": [], "findings": ["x", "y", "y"]})["findings"] == ["x", "y"]
