"""Transcripts as the real CLI writes them, and broken ones."""

from __future__ import annotations

import json
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.agents.claude.transcripts import transcript
from quarterdeck.agents.claude.transcripts.prices import Prices, read_prices
from quarterdeck.agents.claude.transcripts.transcript import read_part, read_summary
from quarterdeck.core.engine.messages import TranscriptPart

RECORDINGS = Path(__file__).parents[4] / "recordings" / "transcripts"
PRICES: Prices = read_prices(resources.files("quarterdeck.agents.claude").joinpath("prices.json").read_bytes())
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def line(kind: str = "assistant", **fields: Any) -> bytes:
    return json.dumps({"type": kind, "timestamp": "2026-11-16T03:00:00.500Z", **fields}).encode() + b"\n"


def assistant(message_id: str, *blocks: dict[str, Any], model: str = "claude-opus-4-5", **usage: Any) -> bytes:
    message = {"id": message_id, "model": model, "content": list(blocks), "usage": usage}
    return line(message=message, uuid="u1")


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def call(tool_use_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": tool_use_id, "name": "Bash", "input": {}}


def texts(part: TranscriptPart) -> list[str]:
    return [message.text for message in part.messages if message.text]


@pytest.mark.parametrize("version", ["2.1.325", "2.1.197"])
def test_a_real_session_is_read(version: str) -> None:
    part = read_part((RECORDINGS / version / "session.jsonl").read_bytes(), PRICES)
    expected = ["first I look", "then I send", "all done", "second answer"]
    assert [text for text in texts(part) if text in expected] == expected
    assert sum(message.usage.tools for message in part.messages) == 2
    assert {message.usage.input_tokens for message in part.messages} == {100}
    assert all(message.agent_id is None and message.at > 1_790_000_000 for message in part.messages)
    assert all(message.usage.cost_usd for message in part.messages)
    assert part.prompts == 3
    assert (part.title, part.titled_by_user) == ("a name", True)
    assert part.context_tokens == 100
    assert part.error == "API Error: 400 scripted"
    assert (part.malformed, part.skipped_lines, part.missing) == (0, 0, ())


def test_only_the_new_messages_of_a_real_fork_are_read() -> None:
    content = (RECORDINGS / "2.1.325" / "fork.jsonl").read_bytes()
    assert texts(read_part(content, PRICES)) == ["done", "second answer", "third answer"]
    (began,) = {json.loads(line)["timestamp"] for line in content.splitlines() if b'"enqueue"' in line}
    part = read_part(content, PRICES, since=datetime.fromisoformat(began).timestamp())
    assert texts(part) == ["third answer"]
    assert (part.prompts, part.error, part.title) == (1, None, "a name")


@pytest.mark.parametrize("version", ["2.1.325", "2.1.197"])
def test_a_real_sub_agent_is_read(version: str) -> None:
    (file,) = (RECORDINGS / version).glob("session/subagents/*.jsonl")
    part = read_part(file.read_bytes(), PRICES, agent_id="a1")
    assert texts(part) == ["helped"]
    assert {message.agent_id for message in part.messages} == {"a1"}
    assert (sum(message.usage.tools for message in part.messages), part.context_tokens, part.prompts) == (1, None, 0)


def test_the_computed_cost_equals_the_cost_of_the_real_program() -> None:
    folder = RECORDINGS / "2.1.325"
    files = [folder / "session.jsonl", *folder.glob("session/subagents/*.jsonl")]
    parts = [read_part(file.read_bytes(), PRICES) for file in files]
    compaction = 200 * 4 / 1e6 + 20 * 20 / 1e6
    computed = sum(message.usage.cost_usd or 0 for part in parts for message in part.messages)
    assert parts[0].reported_cost_usd == pytest.approx(computed + compaction)


def test_a_message_of_many_lines_is_one_message_and_its_last_usage_counts() -> None:
    content = (
        assistant("m1", words("one"), input_tokens=10, output_tokens=1)
        + line("user", message={"content": [{"type": "tool_result"}]})
        + assistant("m1", call("t1"), input_tokens=10, output_tokens=2)
        + assistant("m1", call("t1"), words("two"), input_tokens=10, output_tokens=7)
    )
    (message,) = read_part(content, PRICES).messages
    assert (message.text, message.usage.tools) == ("one\n\ntwo", 1)
    assert (message.usage.input_tokens, message.usage.output_tokens) == (10, 7)


def test_the_context_is_the_input_of_the_main_agents_last_message() -> None:
    content = assistant("m1", input_tokens=5, cache_read_input_tokens=70, cache_creation_input_tokens=25)
    content += line(isSidechain=True, agentId="a7", message={"id": "m2", "usage": {"input_tokens": 9}})
    part = read_part(content, PRICES)
    assert part.context_tokens == 100
    assert [message.agent_id for message in part.messages] == [None, "a7"]


def test_a_compaction_sets_the_context() -> None:
    boundary = line("system", subtype="compact_boundary", compactMetadata={"preTokens": 9_000, "postTokens": 42})
    assert read_part(assistant("m1", input_tokens=9_000) + boundary, PRICES).context_tokens == 42


def test_a_synthetic_message_is_not_counted() -> None:
    synthetic = {"id": "m2", "model": "<synthetic>", "content": [words("No response requested.")]}
    part = read_part(assistant("m1", words("yes")) + line(message=synthetic), PRICES)
    assert (texts(part), part.error) == (["yes"], None)


def test_an_error_is_cleared_by_the_next_message() -> None:
    failed = line(isApiErrorMessage=True, message={"model": "<synthetic>", "content": [words("API Error: 529")]})
    assert read_part(failed, PRICES).error == "API Error: 529"
    assert read_part(failed + assistant("m1", words("here")), PRICES).error is None


def test_a_title_by_a_person_is_kept() -> None:
    content = line("custom-title", customTitle="mine") + line("ai-title", aiTitle="theirs")
    part = read_part(content, PRICES)
    assert (part.title, part.titled_by_user) == ("mine", True)
    assert read_part(line("ai-title", aiTitle="theirs"), PRICES).title == "theirs"


def test_a_model_without_a_price_is_named() -> None:
    part = read_part(assistant("m1", model="claude-zebra-9", input_tokens=3), PRICES)
    assert part.messages[0].usage.cost_usd is None
    assert part.missing == ("the price of claude-zebra-9",)


@pytest.mark.law("I2")
def test_bad_lines_are_counted_and_the_rest_is_read() -> None:
    bad = [b"{", b'{"type":"assistant","message":7}', b"\xff\xfe", b"[" * 100_000, b'{"type":"assistant"}', b"null"]
    part = read_part(b"\n".join(bad) + b"\n" + assistant("m1", words("good")), PRICES)
    assert (texts(part), part.malformed) == (["good"], len(bad))


@pytest.mark.law("I1")
@pytest.mark.parametrize("filler", [b"1," * 2_000_000, b" " * (transcript.MAX_LINE + 1)])
def test_a_line_too_long_to_read_in_one_go_is_skipped(filler: bytes) -> None:
    part = read_part(b'{"type":"assistant","x":[' + filler + b"1]}\n" + assistant("m1", words("good")), PRICES)
    assert (texts(part), part.skipped_lines) == (["good"], 1)


class Searched(bytes):
    """Content that counts the searches for the end of a line."""

    searches = 0

    def find(self, *args: Any) -> int:
        self.searches += 1
        return super().find(*args)


@pytest.mark.law("I4")
@pytest.mark.parametrize("blank", [b"\n", b" \r\n", b"\t\v\f\n"])
def test_blank_lines_are_passed_over_at_once(blank: bytes) -> None:
    content = Searched(blank * 10_000 + b"{}\n" + blank * 10_000 + b"{}" + blank)
    assert read_part(content, PRICES).size == len(content)
    assert content.searches == 2


def test_long_content_is_read_in_consecutive_parts() -> None:
    content = b"".join(assistant(f"m{n}", words(f"text {n}")) for n in range(120))
    found: list[str] = []
    while content:
        part = read_part(content, PRICES)
        found += texts(part)
        content = content[part.size :]
    assert found == [f"text {n}" for n in range(120)]


def test_a_fork_can_begin_at_a_message() -> None:
    (message,) = read_part(assistant("m1", words("hello")), PRICES).messages
    assert message.point == "u1"


def test_a_text_over_the_limit_is_cut_and_keeps_its_size() -> None:
    (message,) = read_part(assistant("m1", words("x" * (transcript.MAX_TEXT + 5))), PRICES).messages
    assert (len(message.text), message.text_bytes) == (transcript.MAX_TEXT, transcript.MAX_TEXT + 5)


@pytest.mark.law("I4")
@given(st.binary(max_size=300))
def test_no_bytes_make_the_reader_raise(content: bytes) -> None:
    read_part(content, PRICES)
    read_summary(content, content)


records = st.fixed_dictionaries(
    {"type": st.sampled_from(["assistant", "user", "system", "ai-title", "cost-state", "other"])},
    optional={
        "message": anything
        | st.fixed_dictionaries(
            {},
            optional={
                "id": anything,
                "model": anything,
                "content": anything | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": anything})),
                "usage": anything | st.fixed_dictionaries({}, optional={"input_tokens": anything, "speed": anything}),
            },
        ),
        "timestamp": anything | st.text("0123456789-T:Z.+", max_size=24),
        "uuid": anything,
        "isSidechain": anything,
        "agentId": anything,
        "subtype": st.just("compact_boundary"),
        "compactMetadata": anything,
        "totalCostUSD": anything,
        "aiTitle": anything,
    },
)


@pytest.mark.law("I4")
@given(st.lists(records, max_size=5))
def test_no_record_makes_the_reader_raise(found: list[dict[str, Any]]) -> None:
    content = b"\n".join(json.dumps(record).encode(errors="replace") for record in found)
    part = read_part(content, PRICES)
    assert part.malformed <= len(found)
    for message in part.messages:
        assert 0 <= message.usage.input_tokens < 2**63
        message.text.encode()
    read_summary(content, content)


def test_a_summary_has_folder_title_and_model() -> None:
    content = (RECORDINGS / "2.1.325" / "session.jsonl").read_bytes()
    summary = read_summary(content[:16_384], content[-16_384:])
    assert summary is not None
    assert (summary.cwd, summary.title, summary.model) == ("/scratch/home/project", "a name", "claude-opus-5-5")
    assert summary.last_at > summary.started_at > 0
    unnamed = read_summary(content[:16_384], b"")
    assert unnamed is not None
    assert unnamed.title == "do it"


def test_a_file_without_messages_is_not_a_session() -> None:
    assert read_summary(line("queue-operation", content="x"), line("ai-title", aiTitle="x")) is None
