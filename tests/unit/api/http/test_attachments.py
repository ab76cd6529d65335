"""Attachments: only what an agent can read is sent with a prompt."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quarterdeck.api.http.attachments import Attachment, blocks
from quarterdeck.api.http.error_responses import ApiError

PICTURE = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}


@pytest.mark.parametrize(
    "attachment",
    [
        {"type": "text", "text": "notes.md: hello"},
        {"type": "image", "source": PICTURE},
        {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}, "title": "a"},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hi"}},
    ],
)
def test_a_readable_attachment_is_passed_on_unchanged(attachment: dict[str, Any]) -> None:
    assert blocks([msgspec.convert(attachment, Attachment)]) == (attachment,)


@pytest.mark.parametrize(
    "attachment",
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
def test_an_unreadable_attachment_is_refused_with_the_reason(attachment: dict[str, Any]) -> None:
    with pytest.raises(ApiError, match="attachments\\[0\\]"):
        blocks([msgspec.convert(attachment, Attachment)])
