"""Only what an agent can read goes beside a prompt."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.routes.attachments import Attachment, blocks

PICTURE = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}


@pytest.mark.parametrize(
    "given",
    [
        {"type": "text", "text": "notes.md: hello"},
        {"type": "image", "source": PICTURE},
        {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}, "title": "a"},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hi"}},
    ],
)
def test_what_an_agent_reads_goes_as_it_is(given: dict[str, Any]) -> None:
    assert blocks([msgspec.convert(given, Attachment)]) == (given,)


@pytest.mark.parametrize(
    "given",
    [
        {"type": "text"},
        {"type": "text", "text": ""},
        {"type": "text", "text": "x", "source": PICTURE},
        {"type": "image"},
        {"type": "image", "text": "x"},
        {"type": "image", "source": {}},
        {"type": "image", "source": {"type": ["base64"]}},
        {"type": "image", "source": {"type": "text", "media_type": "text/plain", "data": "hi"}},
        {"type": "image", "source": {**PICTURE, "data": "!!"}},
        {"type": "image", "source": {**PICTURE, "data": 7}},
        {"type": "document", "source": {"type": "base64", "data": "aGVsbG8="}},
    ],
)
def test_what_it_would_not_answer_to_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(ApiError, match="attachments\\[0\\]"):
        blocks([msgspec.convert(given, Attachment)])
