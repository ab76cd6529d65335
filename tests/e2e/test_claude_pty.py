"""Claude Code in a terminal of ours: prompts reach it whole and once, and it ends with all it started."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from threading import Event

import pytest

from quarterdeck.core.engine.session_messages import Send, Start
from quarterdeck.drivers.claude.session_files import read_process
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import Kit, Running
from quarterdeck.sessions.pty.launcher import PtyWay
from tests.support.claude import ClaudeHome, read_lines, require
from tests.support.model_server import ModelServer, Turn, text, tool
from tests.support.terminals import Heard, eventually

pytestmark = pytest.mark.e2e

LONG = "the long one\n" + "\n".join(f"line {n} of a prompt that has many" for n in range(40))

SLOW = "wait for me\nand here\nand there"


class Claude:
    """One Claude Code in a terminal, and the model it speaks to."""

    def __init__(self, folder: Path, cli: Path, model: ModelServer) -> None:
        self.home = ClaudeHome(folder, cli=cli, model_url=model.url)
        self.model, self.ear, self.gate = model, Heard(), Event()
        self.kit = Kit(
            claude=cli,
            config_dir=self.home.config,
            environment={**self.home.env, "QUARTERDECK_TAG": "tag-1"},
            hooks="",
            folder=folder / "run",
        )
        self.way = PtyWay(self.ear, self.kit.folder)
        self.session_id = str(uuid.uuid4())

    async def launch(self, prompt: str | None = None, hooks: str = "", resume: str | None = None) -> Running:
        start = Start(
            session_id=self.session_id,
            mode="pty",
            cwd=str(self.home.project),
            by="test",
            at=time.time(),
            prompt=prompt,
            permission_mode="default",
            resume=resume,
        )
        kit = Kit(**{name: getattr(self.kit, name) for name in self.kit.__struct_fields__} | {"hooks": hooks})
        self.running = await self.way.launch(start, kit)
        return self.running

    async def send(self, prompt: str) -> None:
        send = Send(session_id=self.session_id, message_id=uuid.uuid4().hex, prompt=prompt, by="test", at=time.time())
        try:
            await self.way.send(send)
        except Refused as refused:
            raise Refused(f"{refused}\n{await self.way.screen(self.session_id)}") from None

    async def shows(self, words: str, seconds: float = 20.0) -> str:
        """The screen, once these words are on it."""
        until = time.monotonic() + seconds
        while words not in (screen := await self.way.screen(self.session_id)):
            if time.monotonic() > until:
                raise TimeoutError(f"no {words!r} on:\n{screen}")
            await asyncio.sleep(0.1)
        return screen

    def status(self) -> str:
        assert self.running.process is not None
        said = read_process(str(self.home.config / "sessions" / f"{self.running.process.pid}.json"))
        return said.status if said else ""

    async def is_now(self, status: str) -> None:
        await eventually(lambda: self.status() == status, 20)

    def prompts(self) -> list[str]:
        """What the model was asked by the person, in order and each once."""
        found: list[str] = []
        for request in self.model.requests:
            for message in request.body.get("messages", []):
                content = message["content"]
                blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
                found += [b["text"] for b in blocks if message["role"] == "user" and b["type"] == "text"]
        plain = [words for words in found if not words.startswith("<")]
        return list(dict.fromkeys(plain))


@pytest.fixture(params=["2.1.325", "2.1.197"])
async def claude(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Claude]:
    gate = Event()
    scripts = {
        "say hello": [Turn(text("hello from the model"))],
        LONG: [Turn(text("long indeed"))],
        "touch it": [Turn(tool("Bash", command="touch it", description="touches")), Turn(text("touched"))],
        SLOW: [Turn(text("too late"), gate=gate)],
        "and now": [Turn(text("now it is"))],
    }
    with ModelServer(scripts) as model:
        claude = Claude(tmp_path, require(request.param), model)
        claude.gate = gate
        yield claude
        gate.set()
        if claude.session_id in claude.way._sessions:
            await claude.way.end(claude.session_id)
        await claude.way.close()
    assert list(claude.kit.folder.iterdir()) == []


@pytest.mark.law("S8")
async def test_prompts_arrive_whole_and_once_and_the_answer_is_on_the_screen(claude: Claude) -> None:
    await claude.launch()
    seen = bytearray()
    viewer = await claude.way.view(claude.session_id, 100, 30, seen.extend)
    await claude.send("say hello")
    await claude.shows("hello from the model")
    await claude.send(LONG)
    await claude.shows("long indeed")
    assert [words for words in claude.prompts() if "say hello" in words or "line 39" in words] == ["say hello", LONG]
    await viewer.resize(60, 20)
    assert max(map(len, (await claude.shows("long indeed")).splitlines())) <= 60
    await viewer.write(b"a draft")
    await claude.shows("a draft")
    with pytest.raises(Refused, match="not sent"):
        await claude.send("never")
    await viewer.write(b"\x7f" * len("a draft"))
    await viewer.write(b"\x1a")
    await claude.send("and now")
    await claude.shows("now it is")
    assert not [words for words in claude.prompts() if "never" in words or "draft" in words]


@pytest.mark.law("S8")
async def test_nothing_is_typed_into_a_dialog(claude: Claude) -> None:
    running = await claude.launch("touch it")
    await claude.is_now("waiting")
    with pytest.raises(Refused, match="dialog"):
        await claude.send("1")
    viewer = await claude.way.view(claude.session_id, 100, 30, lambda _: None)
    await claude.shows("1. Yes")
    await asyncio.sleep(0.5)  # it drops answers in its first moments
    assert not (claude.home.project / "it").exists()
    await viewer.write(b"1")
    await claude.shows("touched")
    await claude.is_now("idle")
    await claude.send("and now")  # the digit was an answer, not the beginning of a line
    await claude.shows("now it is")
    assert running.process is not None
    await claude.way.end(claude.session_id)
    (down,) = claude.ear.downs(claude.session_id)
    assert down.reason == "ended"


@pytest.mark.law("S8")
async def test_after_an_interrupt_what_was_written_back_is_not_sent_again(claude: Claude) -> None:
    await claude.launch(SLOW)
    await eventually(lambda: claude.model.requests_for(SLOW), 20)
    await claude.is_now("busy")
    await claude.way.interrupt(claude.session_id)
    await claude.is_now("idle")
    await claude.send("and now")
    await claude.shows("now it is")
    assert [words for words in claude.prompts() if "and now" in words] == ["and now"]


@pytest.mark.law("S1")
async def test_it_is_found_again_and_resumed(claude: Claude) -> None:
    hooks = claude.home.path / "hooks.ndjson"
    hook = {"hooks": [{"type": "command", "command": f"cat >> {hooks}"}]}
    settings = json.dumps({"hooks": {"SessionStart": [hook]}})
    running = await claude.launch("say hello", hooks=settings)
    await claude.shows("hello from the model")
    await claude.way.close()
    claude.way = PtyWay(claude.ear, claude.kit.folder)
    assert await claude.way.adopt([claude.session_id]) == [running]
    await claude.shows("hello from the model")
    await claude.way.end(claude.session_id)
    await claude.launch(resume=claude.session_id)
    await claude.shows("hello from the model")
    assert {line["session_id"] for line in read_lines(hooks)} == {claude.session_id}
