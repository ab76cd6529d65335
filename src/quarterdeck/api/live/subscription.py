"""What one connection follows: the log from its cursor, then every change of its topics, which may change."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from quarterdeck.api.live.broadcast import Broadcaster, Frame
from quarterdeck.api.live.live_source import LivePage, LiveSource
from quarterdeck.api.live.topics import MAX_TOPICS, TOO_SLOW, WITH_SNAPSHOT, Closed, known_topics, unknown_topics
from quarterdeck.api.live.ws_messages import Gap, NoticeMessage, Subscribed
from quarterdeck.wire import write_json

FIRST_PAGE = 16
PAGE = 500
PAGE_BYTES = 512 * 1024
MOST_NOTICES = 5
MOST_CHANGES = 100


class Outlet(Protocol):
    """The sending side of a connection."""

    async def send_messages(self, messages: list[bytes]) -> None: ...

    async def send_text(self, text: str) -> None: ...

    async def taken(self) -> None:
        """Wait until the client has read what was sent."""


class TopicChange(NamedTuple):
    """Topics to follow from now on, and topics to follow no longer."""

    more: list[str]
    fewer: list[str]


class Subscription:
    """Sends what a client follows. `snapshots` encodes the current state of topics; `followed` is called with the
    topics whenever they change."""

    def __init__(
        self,
        source: LiveSource,
        live: Broadcaster,
        outlet: Outlet,
        snapshots: Callable[[frozenset[str]], list[bytes]],
        followed: Callable[[frozenset[str]], None],
    ) -> None:
        self._source, self._live, self._outlet = source, live, outlet
        self._snapshots, self._followed = snapshots, followed
        self._topics: frozenset[str] = frozenset()
        self._changes: deque[TopicChange] = deque()
        self._wake = asyncio.Event()
        self._page = FIRST_PAGE

    async def run(self, names: list[str], after: int | None, greeting: Callable[[int, bool], list[bytes]]) -> None:
        """Greet the client, send the current state and what it missed, then every change, until cancelled."""
        source, live = self._source, self._live
        topics = self._topics = known_topics(names[:MAX_TOPICS])
        resumes = await source.can_resume(after) if after is not None else True
        seq_no = source.place
        await self._outlet.send_messages([*greeting(seq_no, resumes), *self._snapshots(topics), *_notices(names)])
        position = after if resumes and after is not None else seq_no
        if "feed" in topics:
            position = await self._catch_up(position)
        self._wake = live.listen(topics)
        head, upto, so_far = live.head, source.place, live.so_far(topics)
        try:
            self._followed(topics)
            if messages := [*(self._snapshots(topics) if upto != seq_no else []), *so_far]:
                await self._outlet.send_messages(messages)
            if "feed" in topics:
                await self._catch_up(position, upto)
            await self._follow(head)
        finally:
            live.leave(self._wake)

    def change(self, change: TopicChange) -> None:
        """Follow more or fewer topics, from the next frame on."""
        if len(self._changes) >= MOST_CHANGES:
            raise Closed(TOO_SLOW, "too slow: read the answers before changing topics again")
        self._changes.append(change)
        self._wake.set()

    def follows(self, topic: str) -> bool:
        """True if the connection follows this topic."""
        return topic in self._topics

    async def _catch_up(self, position: int, upto: int | None = None) -> int:
        """Send events after this position from the log, page by page, up to `upto` or to the last published one. The
        log may hold more: a recorded event is published a moment later, and would be sent twice."""
        more = True
        while more and position < (last := self._source.place if upto is None else upto):
            position, more = await self._send_page(position, last + 1)
        return position

    async def _send_page(self, position: int, before: int) -> tuple[int, bool]:
        """Send the next page once the client has read the last one, so that a slow client costs little memory. Events
        that did not fit are read again."""
        await self._outlet.taken()
        page = await self._source.page(position, before, self._page)
        messages = list(fitting(page, self._source))
        if not messages:
            return position, False
        fits = len(messages) == len(page.events)
        self._page = min(PAGE, 2 * self._page) if fits else len(messages)
        await self._outlet.send_messages(messages)
        return page.places[len(messages) - 1], page.more or not fits

    async def _follow(self, after: int) -> None:
        """Send everything after this batch."""
        while True:
            if after == self._live.head and not self._changes:
                await self._wake.wait()
            if not self._changes:  # a wake for changes only must not hide one for a batch
                self._wake.clear()
                frame = await self._frame(after)
                after = frame.upto
                if frame.text:
                    await self._outlet.send_text(frame.text)
            else:
                after = await self._switch(after, self._changes.popleft())

    async def _frame(self, after: int) -> Frame:
        frame = self._live.frame(after, self._topics)
        if frame is None:
            await self._outlet.send_messages([write_json(Gap(seq_no=self._source.place))])
            raise Closed(TOO_SLOW, "too slow: connect again with your last cursor as after")
        return frame

    async def _switch(self, after: int, change: TopicChange) -> int:
        """Change the topics. Nothing is awaited between the last frame of the earlier topics and the state of the new
        ones, so that no change is sent twice, out of order or not at all."""
        live, before = self._live, self._topics
        live.flush()
        texts = []
        while after != live.head:
            frame = await self._frame(after)  # awaits only to say that the client is too slow
            texts.append(frame.text)
            after = frame.upto
        added = sorted(known_topics(change.more) - before)[: max(0, MAX_TOPICS - len(before))]
        topics = self._topics = (before | frozenset(added)) - frozenset(change.fewer)
        live.follow(self._wake, topics)
        self._followed(topics)
        messages = [*_notices(change.more), *live.so_far(added)]
        if WITH_SNAPSHOT.intersection(added):
            messages += self._snapshots(frozenset(added))
        messages.append(write_json(Subscribed(topics=sorted(topics), cursor=self._source.cursor(self._source.place))))
        for text in filter(None, texts):
            await self._outlet.send_text(text)
        await self._outlet.send_messages(messages)
        return after


def fitting(page: LivePage, source: LiveSource) -> Iterator[bytes]:
    """The first event, and more until the frame has its usual size."""
    size = 0
    for event in page.events:
        message = source.event_message(event)
        size += len(message)
        if size > PAGE_BYTES and size > len(message):
            return
        yield message


def _notices(names: list[str]) -> list[bytes]:
    """A notice for each topic that cannot be followed, the first few."""
    texts = [f"unknown topic: {name}" for name in unknown_topics(names)][:MOST_NOTICES]
    if len(names) > MAX_TOPICS:
        texts.append(f"at most {MAX_TOPICS} topics are followed")
    return [write_json(NoticeMessage(message=text)) for text in texts]
