"""Claude Code in an owned terminal: prompts reach it whole and once, and it ends with everything it started."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest

from quarterdeck.core.engine.session_messages import SendPrompt, StartSession
from quarterdeck.drivers.claude.session_files import read_process
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import LaunchSpec, RunningAgent
from quarterdeck.sessions.pty.host_connection import HostViewer
from quarterdeck.sessions.pty.launcher import PtyLauncher
from tests.support.claude import ClaudeHome, read_lines, require
from tests.support.daemon import PATIENCE_SECONDS
from tests.support.model_server import ModelServer, Turn, text, tool
from tests.support.terminals import TerminalListener, eventually
from tests.support.tmux import ANSWER_SECONDS, SETTLE_SECONDS

pytestmark = pytest.mark.e2e

LONG = "the long one\n" + "\n".join(f"line {n} of a prompt that has many" for n in range(40))

SLOW = "wait for me\nand here\nand there"


class Claude:
    """One Claude Code in a terminal, with its model server."""

    def __init__(self, folder: Path, cli: Path, model: ModelServer) -> None:
        self.home = ClaudeHome(folder, cli=cli, model_url=model.url)
        self.model, self.listener, self.gate = model, TerminalListener(), Event()
        self.spec = LaunchSpec(
            agent="claude",
            program=cli,
            config_dir=self.home.config,
            environment={**self.home.env, "QUARTERDECK_TAG": "tag-1"},
            hooks="",
            folder=folder / "run",
        )
        self.launcher = PtyLauncher(self.listener, self.spec.folder)
        self.session_id = str(uuid.uuid4())

    async def launch(self, prompt: str | None = None, hooks: str = "", resume: str | None = None) -> RunningAgent:
        start = StartSession(
            session_id=self.session_id,
            mode="pty",
            cwd=str(self.home.project),
            by="test",
            at=time.time(),
            prompt=prompt,
            permission_mode="default",
            resume=resume,
        )
        spec = LaunchSpec(**{name: getattr(self.spec, name) for name in self.spec.__struct_fields__} | {"hooks": hooks})
        self.running = await self.launcher.launch(start, spec)
        return self.running

    async def send(self, prompt: str) -> None:
        send = SendPrompt(
            session_id=self.session_id, message_id=uuid.uuid4().hex, prompt=prompt, by="test", at=time.time()
        )
        try:
            await self.launcher.send(send)
        except Refused as refused:
            raise Refused(f"{refused}\n{await self.launcher.screen(self.session_id)}") from None

    async def keeps(self, words: str) -> None:
        """Wait until the agent's transcript has these words: it writes them a moment after it shows them."""
        transcripts = self.home.config / "projects"
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not any(words in path.read_text() for path in transcripts.glob(f"*/{self.session_id}.jsonl")):
                await asyncio.sleep(0.02)

    async def shows(self, words: str, seconds: float = PATIENCE_SECONDS) -> str:
        """The screen, once these words are on it."""
        until = time.monotonic() + seconds
        while words not in (screen := await self.launcher.screen(self.session_id)):
            if time.monotonic() > until:
                raise TimeoutError(f"no {words!r} on:\n{screen}")
            await asyncio.sleep(0.1)
        return screen

    def status(self) -> str:
        assert self.running.process is not None
        found = read_process(str(self.home.config / "sessions" / f"{self.running.process.pid}.json"))
        return found.status if found else ""

    async def is_now(self, status: str) -> None:
        await eventually(lambda: self.status() == status)

    async def answers(self, viewer: HostViewer, key: bytes) -> None:
        """Type a key into the dialog until it is taken: keys are dropped in its first moments."""
        for _ in range(12):
            await asyncio.sleep(SETTLE_SECONDS)
            await viewer.write(key)
            with suppress(TimeoutError):
                await eventually(lambda: self.status() != "waiting", ANSWER_SECONDS)
                return
        raise TimeoutError(await self.launcher.screen(self.session_id))

    def prompts(self) -> list[str]:
        """The person's prompts as the model received them, in order and each once."""
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
        if claude.session_id in claude.launcher._sessions:
            await claude.launcher.end(claude.session_id)
        await claude.launcher.close()
    assert list(claude.spec.folder.iterdir()) == []


@pytest.mark.law("S8")
async def test_prompts_arrive_whole_and_once_and_the_answer_is_on_the_screen(claude: Claude) -> None:
    await claude.launch()
    seen = bytearray()
    viewer = await claude.launcher.view(claude.session_id, 100, 30, seen.extend)
    await claude.send("say hello")
    await claude.shows("hello from the model")
    await claude.send(LONG)
    await claude.shows("long indeed")
    assert [words for words in claude.prompts() if "say hello" in words or "line 39" in words] == ["say hello", LONG]
    await viewer.resize(60, 20)
    assert max(map(len, (await claude.shows("long indeed")).splitlines())) <= 60
    await viewer.write(b"a draft")
    await claude.shows("a draft")
    with pytest.raises(Refused, match="unsent text"):
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
    viewer = await claude.launcher.view(claude.session_id, 100, 30, lambda _: None)
    await claude.shows("1. Yes")
    assert not (claude.home.project / "it").exists()
    await claude.answers(viewer, b"1")
    await claude.shows("touched")
    await claude.is_now("idle")
    await claude.send("and now")  # the digit was an answer, not the beginning of a line
    await claude.shows("now it is")
    assert running.process is not None
    await claude.launcher.end(claude.session_id)
    (down,) = claude.listener.exits(claude.session_id)
    assert down.reason == "ended"


@pytest.mark.law("S8")
async def test_after_an_interrupt_the_restored_draft_is_not_sent_again(claude: Claude) -> None:
    await claude.launch(SLOW)
    await eventually(lambda: claude.model.requests_for(SLOW))
    await claude.is_now("busy")
    await claude.launcher.interrupt(claude.session_id)
    await claude.is_now("idle")
    await claude.send("and now")
    await claude.shows("now it is")
    assert [words for words in claude.prompts() if "and now" in words] == ["and now"]


@pytest.mark.law("S1")
async def test_a_terminal_session_is_found_again_and_resumed(claude: Claude) -> None:
    hooks = claude.home.path / "hooks.ndjson"
    hook = {"hooks": [{"type": "command", "command": f"cat >> {hooks}"}]}
    settings = json.dumps({"hooks": {"SessionStart": [hook]}})
    running = await claude.launch("say hello", hooks=settings)
    await claude.shows("hello from the model")
    await claude.launcher.close()
    claude.launcher = PtyLauncher(claude.listener, claude.spec.folder)
    assert await claude.launcher.adopt([claude.session_id]) == [running]
    await claude.shows("hello from the model")
    await claude.keeps("hello from the model")
    await claude.launcher.end(claude.session_id)
    await claude.launch(resume=claude.session_id)
    await claude.shows("hello from the model")
    assert {line["session_id"] for line in read_lines(hooks)} == {claude.session_id}
