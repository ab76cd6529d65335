"""The risk of every request: a quick one at once, then the full one with real path and plug-ins, computed only once."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from quarterdeck.core.engine.messages import Input, RiskAssessed
from quarterdeck.core.model.payload import text
from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.core.model.state import Request
from quarterdeck.core.model.tool_kinds import EDIT_KINDS, ToolKind
from quarterdeck.core.risk.assess import risk_of, worst_risk
from quarterdeck.core.risk.breakdown import AnnotatedCommand, RequestBreakdown, annotate
from quarterdeck.core.risk.quick_risk import CACHE_SIZE, quick_risk
from quarterdeck.core.text.file_diff import FileDiff, diff_from_input, edited_path
from quarterdeck.daemon.backend.current_file import current_change, real_file
from quarterdeck.daemon.backend.risk_plugins import RiskPlugin
from quarterdeck.system.worker_thread import WorkerThread, WorkerTimeout

SECONDS = 2.0
BATCH = 64

Key = tuple[str, str, str]


class RiskService:
    """Assesses requests and submits the full risk of each pending one. The latest full risks are kept for requests
    without a recorded one: those that no person had to decide. `cwd_of` gives a session's folder, `guarded` are the
    paths that control agents."""

    def __init__(
        self,
        cwd_of: Callable[[str], str],
        submit: Callable[[Input], None],
        home: str,
        guarded: Sequence[str] = (),
        plugins: Iterable[RiskPlugin] = (),
    ) -> None:
        self._cwd_of = cwd_of
        self._submit = submit
        self._home = home
        self._guarded = tuple(guarded)
        self._plugins = list(plugins)
        self._known: OrderedDict[Key, Risk] = OrderedDict()
        self._thread = WorkerThread("risk")
        self._tasks: set[asyncio.Task[None]] = set()

    def risk(self, request: Request) -> Risk:
        """The risk as far as it is known now; cheap enough for the loop."""
        return request.risk or self._known.get(self._key(request)) or self._quick_risk(request)

    def requests_changed(self, requests: list[Request]) -> None:
        """Assess the pending ones of these requests in the background, and submit their risk."""
        fresh = [r for r in requests if r.status == "pending" and (r.risk is None or self._key(r) not in self._known)]
        if fresh:
            task = asyncio.get_running_loop().create_task(self._assess_and_submit(fresh))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def assess(self, requests: Sequence[Request]) -> None:
        """Compute the full risk of these requests, plug-ins included."""
        fresh = [r for r in requests if r.risk is None and self._key(r) not in self._known]
        async for _ in self._full_risks(fresh):
            pass

    async def breakdown(self, request: Request) -> RequestBreakdown:
        """Everything about one request that takes longer than its quick risk."""
        await self.assess([request])
        risk, cwd = self.risk(request), self._cwd_of(request.session_id)
        try:
            change, command = await self._thread.run(SECONDS, self._change_and_command, request, cwd)
        except WorkerTimeout:
            change, command = _unread(request), None
        return RequestBreakdown(risk=risk, change=change, command=command)

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._thread.close()
        for plugin in self._plugins:
            plugin.close()

    def _change_and_command(self, request: Request, cwd: str) -> tuple[FileDiff | None, AnnotatedCommand | None]:
        command = text(request.tool_input, "command") if request.tool_kind == ToolKind.SHELL else ""
        annotated = annotate(command, cwd, self._home, self._guarded) if command else None
        return current_change(request, cwd), annotated

    async def _assess_and_submit(self, requests: list[Request]) -> None:
        async for request, risk in self._full_risks(requests):
            self._submit(RiskAssessed(request_id=request.request_id, digest=request.digest, risk=risk, at=time.time()))

    async def _full_risks(self, requests: list[Request]) -> AsyncIterator[tuple[Request, Risk]]:
        for start in range(0, len(requests), BATCH):
            batch = requests[start : start + BATCH]
            for request, risk in zip(batch, await self._risks_of_real_paths(batch), strict=True):
                opinions = [
                    opinion for plugin in self._plugins if (opinion := await self._plugin_risk(plugin, request))
                ]
                full = worst_risk([risk, *opinions]) if opinions else risk
                self._keep(self._key(request), full)
                yield request, full

    async def _risks_of_real_paths(self, requests: list[Request]) -> list[Risk]:
        try:
            pairs = [(request, self._cwd_of(request.session_id)) for request in requests]
            return await self._thread.run(
                SECONDS, lambda: [self._risk_of_real_path(request, cwd) for request, cwd in pairs]
            )
        except WorkerTimeout:
            return [self._quick_risk(request) for request in requests]

    async def _plugin_risk(self, plugin: RiskPlugin, request: Request) -> Risk | None:
        return await plugin.risk_of(request.tool_name, request.tool_input, self._cwd_of(request.session_id), self._home)

    def _risk_of_real_path(self, request: Request, cwd: str) -> Risk:
        """The risk with the file's real path. Not for the loop: a path may lead to a disk that does not respond."""
        path = real_file(edited_path(request.tool_input) or text(request.tool_input, "path"), cwd)
        return self._risk(request, cwd, path)

    def _risk(self, request: Request, cwd: str, path: str | None) -> Risk:
        return risk_of(request.tool, request.tool_name, request.tool_input, cwd, self._home, path, self._guarded)

    def _quick_risk(self, request: Request) -> Risk:
        return quick_risk(request, self._cwd_of(request.session_id), self._home, self._guarded)

    def _key(self, request: Request) -> Key:
        return request.request_id, request.digest, self._cwd_of(request.session_id)

    def _keep(self, key: Key, risk: Risk) -> None:
        self._known[key] = risk
        self._known.move_to_end(key)
        while len(self._known) > CACHE_SIZE:
            self._known.popitem(last=False)


def _unread(request: Request) -> FileDiff | None:
    """The change of an edit whose file does not respond."""
    if request.tool_kind not in EDIT_KINDS:
        return None
    return diff_from_input(request.tool_kind, request.tool_input, ("the file cannot be read in time",))
