"""A prompt is typed whole, once, alone, and never into other text."""

from collections.abc import Callable

import pytest

from quarterdeck.sessions.host.typist import (
    DIALOG,
    HALF_WRITTEN,
    NOT_READY,
    NOT_SENT,
    ONE_LINE,
    TerminalState,
    TypingRefusal,
    Typist,
)

PASTED = b"\x1b[200~hello\x1b[201~"


class Scene:
    """A clock, a terminal whose program reacts to keys as the test says, and a typist."""

    def __init__(
        self, text: bytes = b"hello", *, shell: bool = False, clear_first: bool = False, **seen: object
    ) -> None:
        self.typist = Typist(text, shell=shell, clear_first=clear_first, at=0.0)
        self.now, self.seen = 0.0, {"status": "idle", "since": "1", **seen}
        self.typed: list[bytes] = []
        self.on: dict[bytes, Callable[[], None]] = {}

    def draws(self) -> None:
        self.seen["output_at"] = self.now + 0.01

    def runs(self, seconds: float) -> "Scene":
        until = self.now + seconds
        while self.now < until and not self.typist.done:
            keys = self.typist.step(TerminalState(self.now, **self.seen))  # type: ignore[arg-type]
            if keys:
                self.typed.append(keys)
                self.on.get(keys, lambda: None)()
            self.now += 0.02
        return self

    def starts_work(self) -> None:
        self.seen.update(status="busy", since="2")


@pytest.mark.law("S8")
def test_an_idle_agent_gets_the_text_as_one_paste_and_then_one_enter() -> None:
    scene = Scene()
    scene.on = {PASTED: scene.draws, b"\r": scene.starts_work}
    assert scene.runs(5).typed == [PASTED, b"\r"]
    assert scene.typist.done


@pytest.mark.law("S8")
@pytest.mark.parametrize(
    ("seen", "words"),
    [({"half_written": True}, HALF_WRITTEN), ({"status": "waiting"}, DIALOG), ({"ready": False}, NOT_READY)],
)
def test_nothing_is_typed_into_unsent_text_a_dialog_or_a_program_that_is_not_ready(
    seen: dict[str, object], words: str
) -> None:
    scene = Scene()
    scene.seen.update(seen)
    with pytest.raises(TypingRefusal, match=words):
        scene.runs(60)
    assert scene.typed == []


def test_the_first_prompt_waits_until_the_agent_takes_input() -> None:
    scene = Scene(ready=False, status="")
    assert scene.runs(3).typed == []
    scene.seen.update(ready=True, status="idle")
    assert scene.runs(1).typed[0] == PASTED


def test_a_prompt_that_an_interrupt_wrote_back_is_cleared_row_by_row() -> None:
    scene = Scene(clear_first=True)
    rows = ["wait", "and", "here"]

    def takes_a_letter() -> None:
        if rows:
            rows.append(rows.pop()[:-1]) if rows[-1] else rows.pop()
            scene.draws()

    def takes_a_row() -> None:
        if rows and rows[-1]:
            rows[-1] = ""
            scene.draws()

    scene.on = {b"\x7f": takes_a_letter, b"\x15": takes_a_row, PASTED: scene.draws, b"\r": scene.starts_work}
    assert scene.runs(20).typed[-2:] == [PASTED, b"\r"]
    assert rows == []


def test_an_empty_line_costs_one_key() -> None:
    scene = Scene(clear_first=True)
    scene.on = {PASTED: scene.draws, b"\r": scene.starts_work}
    assert scene.runs(20).typed == [b"\x7f", PASTED, b"\r"]


@pytest.mark.law("S8")
def test_enter_is_not_pressed_into_a_dialog_that_opens_meanwhile() -> None:
    scene = Scene()
    scene.on = {PASTED: lambda: scene.seen.update(status="waiting"), b"\r": scene.starts_work}
    assert scene.runs(15).typed == [PASTED]
    scene.seen.update(status="idle")
    assert scene.runs(5).typed == [PASTED, b"\r"]


def test_a_dialog_that_stays_open_is_reported_and_enter_is_not_pressed() -> None:
    scene = Scene()
    scene.on = {PASTED: lambda: scene.seen.update(status="waiting")}
    with pytest.raises(TypingRefusal, match="a dialog opened"):
        scene.runs(60)
    assert scene.typed == [PASTED]


def test_an_enter_that_was_missed_is_pressed_again_while_the_agent_stays_idle() -> None:
    scene = Scene()
    missed = iter([lambda: None, scene.starts_work])
    scene.on = {b"\r": lambda: next(missed)()}
    assert scene.runs(10).typed == [PASTED, b"\r", b"\r"]


def test_a_turn_too_quick_to_be_noticed_is_fine() -> None:
    scene = Scene()
    quick = iter([scene.draws])
    scene.on = {b"\r": lambda: next(quick, lambda: None)()}
    assert scene.runs(10).typed == [PASTED, b"\r", b"\r"]
    assert scene.typist.done


def test_it_says_so_when_enter_sends_nothing() -> None:
    scene = Scene()
    scene.on = {b"\r": scene.draws}
    with pytest.raises(TypingRefusal, match=NOT_SENT):
        scene.runs(60)
    assert scene.typed.count(PASTED) == 1


def test_a_command_of_the_agent_is_entered_once() -> None:
    scene = Scene(b"/clear")
    assert scene.runs(10).typed[-1:] == [b"\r"]
    assert scene.typed.count(b"\r") == 1


def test_a_shell_without_pastes_gets_one_line() -> None:
    scene = Scene(b"ls", shell=True, ready=False, status="")
    assert scene.runs(5).typed == [b"ls", b"\r"]
    with pytest.raises(TypingRefusal, match=ONE_LINE):
        Scene(b"ls\nrm", shell=True, ready=False, status="").runs(5)


def test_enter_is_not_pressed_before_all_input_is_written() -> None:
    scene = Scene()
    scene.on = {PASTED: lambda: scene.seen.update(flushed=False)}
    assert scene.runs(30).typed == [PASTED]
