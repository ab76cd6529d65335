"""A plain feed."""

from __future__ import annotations

import time
from typing import Any

from textual.message import Message

from quarterdeck.surfaces.tui.lines import Row, Span
from quarterdeck.core.text import one_line
from quarterdeck.surfaces.tui.talk import Talk
from quarterdeck.surfaces.tui.wall import Wall

Json = dict[str, Any]


class FeedSource:
    def __init__(self, talk: Talk) -> None:
        self.talk = talk


class FeedView(Wall):
    class Selected(Message):
        def __init__(self, event: Json) -> None:
            super().__init__()
            self.event = event

    class Behind(Message):
        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    def __init__(self, source: FeedSource, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.source = source
        self.events: list[Json] = []
        self.session_id: str | None = None

    def on_mount(self) -> None:
        self.follow(None)

    def follow(self, session_id: str | None) -> None:
        self.session_id = session_id
        self.run_worker(self._load(), exclusive=True)

    async def _load(self) -> None:
        try:
            page = await self.source.talk.get("/feed", before=2**53, limit=500, session_id=self.session_id)
        except Exception:
            return
        self.events = page["events"]
        self._draw()

    def append(self, events: list[Json]) -> None:
        known = self.events[-1]["seq_no"] if self.events else 0
        self.events += [e for e in events if e["seq_no"] > known and self.session_id in (None, e["session_id"])]
        self._draw()

    def _draw(self) -> None:
        rows: list[Row] = []
        for event in self.events[-2000:]:
            clock = time.strftime("%H:%M:%S", time.localtime(event["at"]))
            rows.append((Span(f"{clock} ", "dim"), Span(one_line(event["title"]))))
        self.show_rows(rows)
        self.scroll_end(animate=False)

    def set_filter(self, **filters: Any) -> None: ...
    def search(self, text: str) -> None: ...
    def jump(self, kind: str) -> None: ...
    def toggle_expand(self) -> None: ...
    def copy_text(self) -> str:
        return self.text

    def clear(self) -> None:
        self.events = []
        self._draw()
