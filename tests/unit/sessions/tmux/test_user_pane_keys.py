"""Keys for an agent in the person's own tmux: pressed once, and only while the agent itself gets them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from quarterdeck.agents.registry import AGENTS
from quarterdeck.errors import Refused
from quarterdeck.sessions.tmux.server import TmuxServer
from quarterdeck.sessions.tmux.user_pane_keys import AgentStatus, UserPane
from quarterdeck.sessions.tmux.user_panes import AgentPane
from quarterdeck.system.process_table import process_id
from tests.support.foreground import terminal_process

RULE = "─" * 20
DIALOG = " Do you want to proceed?\n ❯ 1. Yes"


class Screen(TmuxServer):
    """A pane with a composer. `folds`: it shows what was pasted as one folded text."""

    def __init__(self, terminal: str) -> None:
        super().__init__(Path("/nonexistent"))
        self.pane, self.in_mode, self.terminal = "%7", "0", terminal
        self.draft, self.covered, self.folds = "", False, False
        self.keys: list[str] = []
        self.sent: list[str] = []
        self.on_paste: Callable[[str], str] = str
        self.on_escape: Callable[[], None] = lambda: None

    async def execute(
        self, *commands: Sequence[str], stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: str = "/"
    ) -> str:
        match commands[0]:
            case ("display-message", *_, "#{pane_in_mode}"):
                return f"{self.in_mode}\n{self._shown()}"
            case ("display-message", *_):
                return f"{self.pane} {self.in_mode} 0 {self.terminal}\n"
            case ("capture-pane", *_):
                return self._shown()
            case ("load-buffer", *_):
                self.draft += self.on_paste(stdin.decode())
            case ("send-keys", *_, key):
                self._press(key)
        return ""

    def _press(self, key: str) -> None:
        self.keys.append(key)
        if key == "Escape":
            self.on_escape()
        if key == "Enter":
            self.sent.append(self.draft)
        self.draft = ""

    def _shown(self) -> str:
        shown = "[Pasted text #1 +9 lines]" if self.folds and self.draft else self.draft
        return DIALOG if self.covered else f"{RULE}\n❯\xa0{shown}\n{RULE}"


class Agent:
    """The agent's own file, and its pane."""

    def __init__(self, pid: int, terminal: str) -> None:
        process = process_id(pid)
        assert process is not None
        self.status: AgentStatus = AgentStatus(process=process, status="busy")
        self.unreadable = 0
        self.screen = Screen(terminal)
        self.on_read: Callable[[], None] = lambda: None
        self.pane = self.in_pane(settle_seconds=0.05)

    def in_pane(self, settle_seconds: float) -> UserPane:
        process = self.status.process
        found = AgentPane(
            socket="/s", session="$1", window="@1", pane="%7", pid=process.pid, session_id="s1", attach=()
        )
        return UserPane(self.screen, found, AGENTS["claude"], process, self.read, settle_seconds=settle_seconds)

    def read(self) -> AgentStatus | None:
        self.on_read()
        self.unreadable -= 1
        return None if self.unreadable >= 0 else self.status

    def says(self, status: str, pane: str = "") -> None:
        self.status = AgentStatus(process=self.status.process, status=status, pane=pane)


@pytest.fixture
def agent() -> Iterator[Agent]:
    with terminal_process() as (pid, terminal):
        yield Agent(pid, terminal)


async def test_one_escape_interrupts_and_the_status_says_that_it_worked(agent: Agent) -> None:
    agent.screen.on_escape = lambda: agent.says("idle", "%7")
    await agent.pane.interrupt()
    assert agent.screen.keys == ["Escape"]


async def test_an_agent_that_says_a_moment_late_that_it_is_busy_is_interrupted(agent: Agent) -> None:
    statuses = ["idle", "busy", "busy"]
    agent.on_read = lambda: agent.says(statuses.pop(0) if statuses else "idle")
    await agent.in_pane(settle_seconds=60.0).interrupt()
    assert agent.screen.keys == ["Escape"]


async def test_a_file_that_is_just_being_written_is_read_again(agent: Agent) -> None:
    def press() -> None:
        agent.says("idle")
        agent.unreadable = 3

    agent.screen.on_escape, agent.unreadable = press, 2
    await agent.pane.interrupt()
    assert agent.screen.keys == ["Escape"]


def _another_pane(agent: Agent) -> None:
    agent.says("busy", "%8")


def _idle(agent: Agent) -> None:
    agent.says("idle")


def _dialog(agent: Agent) -> None:
    agent.screen.covered = True


def _scrolled(agent: Agent) -> None:
    agent.screen.in_mode = "1"


def _gone(agent: Agent) -> None:
    agent.screen.pane = ""


def _elsewhere(agent: Agent) -> None:
    agent.screen.terminal = "/dev/null"


@pytest.mark.law("S8")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_another_pane, "names tmux pane %8"),
        (_idle, "the session's status is idle, not busy: nothing was pressed"),
        (_dialog, "shows a dialog or no prompt: nothing was pressed"),
        (_scrolled, "in copy mode"),
        (_gone, "the session's tmux pane is gone; use its terminal"),
        (_elsewhere, "not in the foreground of its tmux pane"),
    ],
)
async def test_nothing_is_pressed_unless_everything_is_certain(
    agent: Agent, change: Callable[[Agent], None], reason: str
) -> None:
    change(agent)
    with pytest.raises(Refused, match=reason):
        await agent.pane.interrupt()
    assert agent.screen.keys == []


async def test_a_prompt_is_sent_when_the_composer_holds_exactly_that(agent: Agent) -> None:
    await agent.pane.send("and a\ntest")
    assert (agent.screen.sent, agent.screen.keys) == (["and a\ntest"], ["Enter"])


@pytest.mark.law("S8")
async def test_a_prompt_is_not_sent_into_a_draft_a_dialog_or_beside_other_text(agent: Agent) -> None:
    agent.screen.draft = "half a thought"
    with pytest.raises(Refused, match="unsent text"):
        await agent.pane.send("hello")
    agent.screen.draft = ""
    agent.says("waiting")
    with pytest.raises(Refused, match="waiting for an answer"):
        await agent.pane.send("hello")
    agent.says("idle")
    agent.screen.on_paste = lambda text: f"{text}-r"  # a person types at the same time
    with pytest.raises(Refused, match="shows other text too"):
        await agent.pane.send("rm x")
    assert agent.screen.sent == []


async def test_a_prompt_that_is_shown_folded_is_taken_back(agent: Agent) -> None:
    agent.screen.folds = True
    with pytest.raises(Refused, match="so long that the terminal shows it folded"):
        await agent.pane.send("long\n" * 10)
    assert (agent.screen.sent, agent.screen.draft) == ([], "")
