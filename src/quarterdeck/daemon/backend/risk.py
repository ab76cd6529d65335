"""The risk of every request, judged once: at a glance when it is first shown, then with its real path and plug-ins."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from quarterdeck.core.model.payload import text
from quarterdeck.core.model.state import Request
from quarterdeck.core.risk.assess import Risk, risk_of, worse_of
from quarterdeck.core.risk.breakdown import Annotated, Insight, annotated
from quarterdeck.core.risk.quick_risk import KEPT, glance
from quarterdeck.core.text.file_diff import EDITS, Change, change_as_asked, path_in
from quarterdeck.daemon.backend.current_file import change_now, real_file
from quarterdeck.daemon.backend.risk_plugins import Plugin
from quarterdeck.system.worker_thread import Aside, Stuck

SECONDS = 2.0
BATCH = 64

Key = tuple[str, str, str]


class Judged(Struct, frozen=True):
    """A risk, and whether everybody has been heard about it."""

    risk: Risk
    is_whole: bool


class Judging:
    """Judges requests and remembers the latest. `cwd_of` tells where a session works, `guarded` what watches over it;
    `changed` hears of requests whose risk is another than was shown."""

    def __init__(
        self, cwd_of: Callable[[str], str], home: str, guarded: Sequence[str] = (), plugins: Iterable[Plugin] = ()
    ) -> None:
        self.changed: Callable[[list[str]], None] = lambda request_ids: None
        self._cwd_of = cwd_of
        self._home = home
        self._guarded = tuple(guarded)
        self._plugins = list(plugins)
        self._known: OrderedDict[Key, Judged] = OrderedDict()
        self._aside = Aside("judging")
        self._tasks: set[asyncio.Task[None]] = set()

    def risk(self, request: Request) -> Risk:
        """The risk as far as it is known now; cheap enough for the loop."""
        key = self._key(request)
        known = self._known.get(key)
        if known is None:
            known = self._keep(key, Judged(glance(request, key[2], self._home, self._guarded), is_whole=False))
        return known.risk

    def saw(self, requests: list[Request]) -> None:
        """Requests that changed: what waits is judged, in the background."""
        fresh = [request for request in requests if request.status == "pending" and not self._is_whole(request)]
        if fresh:
            shown = {request.request_id: self.risk(request) for request in fresh}
            task = asyncio.get_running_loop().create_task(self._judge_and_tell(fresh, shown))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def judge(self, requests: Sequence[Request]) -> None:
        """See to it that everybody was heard about these."""
        fresh = [request for request in requests if not self._is_whole(request)]
        for start in range(0, len(fresh), BATCH):
            batch = fresh[start : start + BATCH]
            for request, risk in zip(batch, await self._looked_into(batch), strict=True):
                opinions = [risk, *[said for plugin in self._plugins if (said := await self._asked(plugin, request))]]
                whole = worse_of(opinions) if len(opinions) > 1 else risk
                self._keep(self._key(request), Judged(whole, is_whole=True))

    async def insight(self, request: Request) -> Insight:
        """Everything about one request that needs more than a glance."""
        await self.judge([request])
        risk, cwd = self.risk(request), self._cwd_of(request.session_id)
        try:
            change, command = await self._aside.run(SECONDS, self._look_closer, request, cwd)
        except Stuck:
            change, command = _unread(request), None
        return Insight(risk=risk, change=change, command=command)

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._aside.close()
        for plugin in self._plugins:
            plugin.close()

    def _look_closer(self, request: Request, cwd: str) -> tuple[Change | None, Annotated | None]:
        command = text(request.tool_input, "command") if request.tool_name == "Bash" else ""
        taken_apart = annotated(command, cwd, self._home, self._guarded) if command else None
        return change_now(request, cwd), taken_apart

    async def _judge_and_tell(self, requests: list[Request], shown: dict[str, Risk]) -> None:
        await self.judge(requests)
        other = [r.request_id for r in requests if self.risk(r) != shown[r.request_id]]
        if other:
            self.changed(other)

    async def _looked_into(self, requests: list[Request]) -> list[Risk]:
        try:
            asked = [(request, self._cwd_of(request.session_id)) for request in requests]
            return await self._aside.run(SECONDS, lambda: [self._look(request, cwd) for request, cwd in asked])
        except Stuck:
            return [self.risk(request) for request in requests]

    async def _asked(self, plugin: Plugin, request: Request) -> Risk | None:
        return await plugin.risk_of(request.tool_name, request.tool_input, self._cwd_of(request.session_id), self._home)

    def _look(self, request: Request, cwd: str) -> Risk:
        """With the file's real path; not on the loop, for a path may lead to a disk that does not answer."""
        path = real_file(path_in(request.tool_input) or text(request.tool_input, "path"), cwd)
        return self._risk(request, cwd, path)

    def _risk(self, request: Request, cwd: str, path: str | None) -> Risk:
        return risk_of(request.tool_name, request.tool_input, cwd, self._home, path, self._guarded)

    def _key(self, request: Request) -> Key:
        return request.request_id, request.digest, self._cwd_of(request.session_id)

    def _is_whole(self, request: Request) -> bool:
        known = self._known.get(self._key(request))
        return known is not None and known.is_whole

    def _keep(self, key: Key, judged: Judged) -> Judged:
        self._known[key] = judged
        self._known.move_to_end(key)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return judged


def _unread(request: Request) -> Change | None:
    """What is said of an edit whose file does not answer."""
    if request.tool_name not in EDITS:
        return None
    return change_as_asked(request.tool_name, request.tool_input, ("the file cannot be read in time",))
