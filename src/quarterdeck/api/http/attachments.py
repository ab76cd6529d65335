"""Attachments of a prompt, checked here because an agent does not answer at all when it cannot read one."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from quarterdeck.api.http.error_responses import ApiError

SOURCES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "image": {"base64": ("media_type", "data"), "url": ("url",), "file": ("file_id",)},
    "document": {
        "base64": ("media_type", "data"),
        "text": ("media_type", "data"),
        "url": ("url",),
        "file": ("file_id",),
    },
}
"""The kinds of sources, and the fields each needs."""


class Attachment(Struct, kw_only=True, forbid_unknown_fields=True):
    """An image, document or text attached to a prompt, in the agent's own format."""

    type: Literal["image", "document", "text"]
    source: dict[str, Any] | None = None
    text: str | None = None
    title: str | None = None


def blocks(attachments: Sequence[Attachment]) -> tuple[dict[str, Any], ...]:
    """The attachments as the agent's content blocks; ApiError for an invalid one."""
    for number, attachment in enumerate(attachments):
        if problem := _validation_error(attachment):
            raise ApiError(422, "invalid", f"attachments[{number}]: {problem}", field="attachments")
    fields = ({"type": a.type, "source": a.source, "text": a.text, "title": a.title} for a in attachments)
    return tuple({key: value for key, value in one.items() if value is not None} for one in fields)


def _validation_error(attachment: Attachment) -> str:
    if attachment.type == "text":
        plain = attachment.text and attachment.source is None and attachment.title is None
        return "" if plain else "a text must have `text` and no other field"
    source, known = attachment.source or {}, SOURCES[attachment.type]
    kind = source.get("type")
    if attachment.text is not None or not isinstance(kind, str) or kind not in known:
        return f"must have a `source` with one of these types: {', '.join(known)}"
    missing = [name for name in known[kind] if not isinstance(source.get(name), str) or not source[name]]
    if missing:
        return f"its source needs {' and '.join(missing)}"
    return "" if kind != "base64" or _is_base64(source["data"]) else "its data is not base64"


def _is_base64(data: str) -> bool:
    try:
        return bool(base64.b64decode(data, validate=True))
    except ValueError:
        return False
