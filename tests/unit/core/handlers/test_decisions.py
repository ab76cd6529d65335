"""Questions, plans and forms: valid answers, and what is sent to the agent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.engine.messages import CommandReply
from quarterdeck.core.model.decisions import Allow, Answer, Decision, Deny, PlanMode
from quarterdeck.core.text.forms import form_error
from tests.support.other_agent import FERRET
from tests.support.scene import Scene, bash

ONE = {"question": "Which database?", "options": [{"label": "Postgres"}, {"label": "SQLite"}]}
MANY = {"question": "Which checks?", "options": [{"label": "lint"}, {"label": "types"}], "multiSelect": True}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 5},
        "mail": {"type": "string", "format": "email"},
        "age": {"type": "integer", "minimum": 18, "maximum": 99},
        "part": {"type": "number"},
        "sure": {"type": "boolean"},
        "size": {"type": "string", "enum": ["s", "l"]},
        "color": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
        "home": {"type": "string", "format": "uri"},
        "day": {"type": "string", "format": "date"},
        "then": {"type": "string", "format": "date-time"},
    },
    "required": ["name"],
}


def with_questions(*questions: dict[str, Any]) -> Scene:
    return Scene().receives(
        "PermissionRequest", id="q", tool_name="AskUserQuestion", tool_input={"questions": list(questions)}
    )


def with_plan() -> Scene:
    return Scene().receives("PermissionRequest", id="q", tool_name="ExitPlanMode", tool_input={"plan": "1. build"})


def with_form(entrypoint: str = "", **settings: Any) -> Scene:
    form: dict[str, Any] = {"mcp_server_name": "el", "message": "Who?", "mode": "form", "requested_schema": SCHEMA}
    return Scene(**settings).receives("Elicitation", id="q", entrypoint=entrypoint, **form)


def refusal(scene: Scene, decision: Decision) -> str:
    scene.decides("q", decision).replies("invalid")
    (reply,) = [effect for effect in scene.last.effects if isinstance(effect, CommandReply)]
    return reply.message


def test_several_questions_are_answered_at_once_with_notes() -> None:
    answer = Answer(
        {"Which database?": "SQLite", "Which checks?": ["lint", "types"]}, {"Which database?": "keep it small"}
    )
    scene = with_questions(ONE, MANY).holds("q").decides("q", answer).replies("applied").answers_with("q", answer)
    decision = scene.request("q").decision
    assert decision is not None
    assert decision.notes == {"Which database?": "keep it small"}
    scene.folds()


def test_free_text_is_an_answer_where_labels_are_offered() -> None:
    with_questions(ONE).decides("q", Answer({"Which database?": "none at all"})).replies("applied")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Answer({"Which database?": ["Postgres", "SQLite"]}), "answers: 'Which database?' takes one answer, not 2"),
        (Answer({"Which database?": "x"}, {"Which?": "y"}), "notes: 'Which?' is not one of the questions"),
        (Answer({"Which database?": ""}), "answers: the answer to 'Which database?' must be a text or a list of texts"),
    ],
)
def test_an_answer_that_does_not_fit_names_its_field(answer: Answer, problem: str) -> None:
    assert refusal(with_questions(ONE, MANY), answer) == problem


def test_a_plan_is_approved_with_a_mode_or_sent_back() -> None:
    approved = Allow(mode=PlanMode.ACCEPT_EDITS)
    with_plan().holds("q").decides("q", approved).answers_with("q", approved).folds()
    with_plan().decides("q", Deny("smaller steps")).answers_with("q", Deny("smaller steps"))
    assert refusal(with_plan(), Answer({"a": "b"})).startswith("decision: a request of kind plan takes allow, deny")


def test_only_a_plan_takes_a_mode() -> None:
    scene = Scene().receives("PermissionRequest", id="q", **bash("ls"))
    assert refusal(scene, Allow(mode=PlanMode.AUTO)) == "mode: is only for the approval of a plan"


def test_an_edit_is_refused_where_the_agent_takes_none() -> None:
    scene = Scene(capabilities={"claude": FERRET.capabilities}).receives("PermissionRequest", id="q", **bash("ls"))
    assert refusal(scene, Allow(updated_input={"command": "ls -l"})) == (
        "updated_input: Ferret runs a tool only with the input that it asked for"
    )
    scene.decides("q", Allow()).replies("applied")


@pytest.mark.parametrize(
    ("settings", "entrypoint", "held"),
    [
        ({}, "sdk-cli", True),
        ({}, "", True),
        ({}, "cli", False),
        ({"attended": False}, "sdk-cli", False),
        ({"hold": "always", "attended": False}, "cli", True),
        ({"hold": "never"}, "sdk-cli", False),
    ],
)
def test_a_form_is_held_where_no_dialog_of_the_agents_own_is_hidden(
    settings: dict[str, Any], entrypoint: str, held: bool
) -> None:
    assert with_form(entrypoint, **settings).request("q").held is held


def test_a_form_shows_only_the_servers_fields() -> None:
    assert with_form().request("q").tool_input == {
        "mcp_server_name": "el",
        "message": "Who?",
        "mode": "form",
        "requested_schema": SCHEMA,
    }


@pytest.mark.parametrize(
    "content",
    [
        {"name": "Bob"},
        {"name": "Bob", "mail": "b@x.org", "age": 18, "part": 0.5, "sure": False, "size": "s", "color": "g"},
        {"name": "Bob", "tags": ["a", "b"], "home": "https://x.org/a", "day": "2026-01-31"},
        {"name": "Bob", "then": "2026-01-31T12:00:00Z", "part": 3},
    ],
)
def test_a_valid_form_is_sent(content: dict[str, Any]) -> None:
    with_form().decides("q", Answer(content)).replies("applied").answers_with("q", Answer(content))


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("name", 3, "must be a text"),
        ("name", "B", "must have at least 2 characters"),
        ("name", "Barbara", "must have at most 5 characters"),
        ("mail", "nobody", "must be an e-mail address"),
        ("age", 17, "must be at least 18"),
        ("age", 100, "must be at most 99"),
        ("age", 20.5, "must be a whole number"),
        ("age", True, "must be a whole number"),
        ("part", "1", "must be a number"),
        ("sure", "yes", "must be a yes or no"),
        ("size", "m", "must be one of: s, l"),
        ("color", "Red", "must be one of: r, g"),
        ("tags", [], "must have at least 1 items"),
        ("tags", ["c"], "must be one of: a, b"),
        ("tags", "a", "must be a list"),
        ("home", "x.org", "must be an address with its scheme, like https://…"),
        ("day", "31.1.2026", "must be a date, like 2026-01-31"),
        ("then", "noon", "must be a date with its time, like 2026-01-31T12:00:00Z"),
        ("pet", "cat", "is not a field of the form; its fields are name, mail,"),
    ],
)
def test_an_invalid_field_is_named(field: str, value: object, problem: str) -> None:
    message = refusal(with_form(), Answer({"name": "Bob", field: value}))
    assert message.startswith(f"answers.{field}: {problem}")


def test_a_missing_field_is_named() -> None:
    assert refusal(with_form(), Answer({"age": 20})) == "answers.name: is missing, and the form requires it"


def test_a_form_is_declined_or_cancelled() -> None:
    with_form().decides("q", Deny("no")).replies("applied").answers_with("q", Deny("no"))
    with_form().decides("q", Deny("no", True)).replies("applied").answers_with("q", Deny("no", True))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
KEYS = st.sampled_from(["type", "enum", "enumNames", "oneOf", "items", "minimum", "maxLength", "format", "default"])


@pytest.mark.law("I4")
@given(
    st.dictionaries(st.text(max_size=3), st.dictionaries(KEYS, values, max_size=4) | values, max_size=3),
    st.dictionaries(st.text(max_size=3), values, max_size=3),
    values,
)
def test_no_schema_and_no_content_makes_the_check_raise(
    properties: dict[str, Any], content: dict[str, Any], required: object
) -> None:
    form_error({"properties": properties, "required": required}, content)
