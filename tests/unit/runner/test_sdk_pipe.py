"""The pipe beneath the SDK's client, with programs that speak as an agent does."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.drivers.claude.sdk_transport import LAST_WORDS, Pipe, read_line

ENV = {"PATH": "/usr/bin:/bin"}


class Scene:
    """A script of the shell in the agent's place."""

    def __init__(self, script: str, folder: Path) -> None:
        self.heard: list[Any] = []
        self.routed: list[Any] = []
        self.pipe = Pipe(["/bin/sh", "-c", script], str(folder), ENV, self.heard.append)

    async def to_its_end(self) -> None:
        await self.pipe.connect()
        with pytest.raises(ConnectionError, match="has ended"):
            await self._read(self.pipe.read_messages())
        await self.pipe.close()

    async def _read(self, messages: AsyncIterator[dict[str, Any]]) -> None:
        async for message in messages:
            self.routed.append(message)


async def test_the_client_gets_its_own_protocol_and_we_get_the_rest(tmp_path: Path) -> None:
    said = ['{"type": "control_request", "request_id": "1"}', '[debug] {"type": "no"}', '{"type": "new"}']
    scene = Scene("; ".join(f"echo '{line}'" for line in said), tmp_path)
    await scene.to_its_end()
    assert scene.routed == [{"type": "control_request", "request_id": "1"}]
    assert scene.heard == [{"type": "new"}]
    assert (scene.pipe.code, scene.pipe.last_words) == (0, "")


async def test_the_end_of_what_it_said_and_how_it_ended_are_kept(tmp_path: Path) -> None:
    scene = Scene("yes error | head -c 90000 >&2; echo last >&2; kill -9 $$", tmp_path)
    await scene.to_its_end()
    assert scene.pipe.code == -signal.SIGKILL
    assert scene.pipe.last_words.endswith("error\nlast")
    assert LAST_WORDS - 10 < len(scene.pipe.last_words) <= LAST_WORDS


@pytest.mark.law("I9")
async def test_it_has_its_own_environment_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUARTERDECK_TOKEN", "secret")
    scene = Scene("env > seen; ls /proc/$$/fd | wc -l >> seen", tmp_path)
    await scene.to_its_end()
    seen = (tmp_path / "seen").read_text()
    assert "QUARTERDECK" not in seen
    assert "PATH=/usr/bin:/bin" in seen


@pytest.mark.law("S2")
async def test_one_that_hears_nothing_is_ended_with_all_it_started(tmp_path: Path) -> None:
    script = "trap '' TERM INT HUP; (trap '' TERM; setsid sleep 60 &); echo $$ > pid; while :; do sleep 60; done"
    scene = Scene(script, tmp_path)
    await scene.pipe.connect()
    started = time.monotonic()
    await scene.pipe.close()
    assert time.monotonic() - started < 5
    assert scene.pipe.code == -signal.SIGKILL
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


async def test_the_agent_is_found_below_its_keepers(tmp_path: Path) -> None:
    scene = Scene("echo $$ > pid.new; mv pid.new pid; read line", tmp_path)
    await scene.pipe.connect()
    while not (tmp_path / "pid").exists():
        await scene.pipe.write("")
    found = scene.pipe.agent()
    assert found is not None
    assert found.pid == int((tmp_path / "pid").read_text())
    await scene.pipe.close()
    with pytest.raises(ConnectionError, match="no longer reads"):
        await scene.pipe.write("too late")


@pytest.mark.law("D2")
@pytest.mark.law("I1")
def test_a_request_that_breaks_a_limit_is_left_to_be_refused() -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    asked = {"type": "control_request", "request_id": "7", "request": {"subtype": "can_use_tool", "input": deep}}
    read = read_line(json.dumps(asked).encode())
    assert (read["request_id"], read["request"].keys()) == ("7", {"subtype"})
    assert read["request"]["subtype"].startswith("too_deep: ")
    said = read_line(json.dumps({"type": "assistant", "message": deep}).encode())
    assert said == {"type": "unreadable", "why": "too_deep"}
    assert read_line(b'{"type": "cut off') == {"type": "unreadable", "why": "not_json"}
