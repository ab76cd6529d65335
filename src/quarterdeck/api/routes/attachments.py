"""What may stand beside a prompt: an agent does not answer at all when it cannot read it."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from quarterdeck.api.http.errors import ApiError

SOURCES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "image": {"base64": ("media_type", "data"), "url": ("url",), "file": ("file_id",)},
    "document": {
        "base64": ("media_type", "data"),
        "text": ("media_type", "data"),
        "url": ("url",),
        "file": ("file_id",),
    },
}
"""Which sources there are, and what each must say."""


class Attachment(Struct, kw_only=True, forbid_unknown_fields=True):
    """An image or a document beside a prompt, as the agent takes it."""

    type: Literal["image", "document", "text"]
    source: dict[str, Any] | None = None
    text: str | None = None
    title: str | None = None


def blocks(attachments: Sequence[Attachment]) -> tuple[dict[str, Any], ...]:
    """Content blocks of the agent's own form; ApiError for what is none."""
    for number, attachment in enumerate(attachments):
        if trouble := _trouble(attachment):
            raise ApiError(422, "invalid", f"attachments[{number}]: {trouble}", field="attachments")
    given = ({"type": a.type, "source": a.source, "text": a.text, "title": a.title} for a in attachments)
    return tuple({key: value for key, value in one.items() if value is not None} for one in given)


def _trouble(attachment: Attachment) -> str:
    if attachment.type == "text":
        plain = attachment.text and attachment.source is None and attachment.title is None
        return "" if plain else "a text has `text`, and nothing else"
    source, known = attachment.source or {}, SOURCES[attachment.type]
    kind = source.get("type")
    if attachment.text is not None or not isinstance(kind, str) or kind not in known:
        return f"needs a `source` whose type is one of {', '.join(known)}"
    missing = [name for name in known[kind] if not isinstance(source.get(name), str) or not source[name]]
    if missing:
        return f"its source needs {' and '.join(missing)}"
    return "" if kind != "base64" or _is_base64(source["data"]) else "its data is not base64"


def _is_base64(data: str) -> bool:
    try:
        return bool(base64.b64decode(data, validate=True))
    except ValueError:
        return False
