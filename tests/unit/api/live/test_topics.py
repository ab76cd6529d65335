"""The topics of the WebSocket."""

from __future__ import annotations

from quarterdeck.api.live.topics import known_topics, stream_sessions, unknown_topics

NAMES = ["feed", "streams:s1", "streams:../x", "streams:", "nonsense", "clients", "x" * 500]


def test_a_topic_is_a_name_or_the_stream_of_a_plain_id() -> None:
    assert known_topics(NAMES) == {"feed", "clients", "streams:s1"}


def test_the_others_are_shown_at_a_bounded_length() -> None:
    assert unknown_topics(NAMES) == ["streams:../x", "streams:", "nonsense", "x" * 200]


def test_streams_name_their_sessions() -> None:
    assert stream_sessions(["feed", "streams:s1", "streams:s2"]) == ["s1", "s2"]
