"""The log's pipeline: no secrets, no agent's text above debug, no characters that act on a terminal."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.text.audit.redaction import HIDDEN
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.daemon.telemetry.log_redaction import Redactor, exception_lines
from quarterdeck.daemon.telemetry.logs import LogFile, RepeatFilter, write_line, write_plain
from quarterdeck.errors import BadInput

TOKEN = "q3Xw9ZrT0bVn7KcL1yHs8PdG4mJf6uAe2oRiQtWzXkY"


def clean(level: Any = "info", **entry: Any) -> dict[str, Any]:
    redactor = Redactor()
    redactor.learn("a known secret")
    return redactor(None, level, {"event": "e", "level": level, **entry})


@pytest.mark.law("A12")
@pytest.mark.parametrize(
    "text",
    [
        TOKEN,
        f"qdt_{TOKEN}",
        f"Authorization: Bearer {TOKEN}",
        "bearer short-one",
        "Basic dXNlcjpwYXNz",
        f"http://127.0.0.1:1/x?token={TOKEN}",
        "http://127.0.0.1:1/login?code=123456",
        "api_key=hunter22",
        "sk-ant-api03-abcdefghij",
        f"{b'x' + TOKEN.encode()!r}",
        "before a known secret after",
    ],
)
def test_a_secret_is_hidden_anywhere_in_a_text(text: str) -> None:
    found = clean(error=text, nested={"deep": [text, {"deeper": text}]}, thing=ValueError(text))
    words = write_line(None, "info", found) + write_plain(None, "info", found)
    assert HIDDEN in words
    for secret in (TOKEN, "short-one", "dXNlcjpwYXNz", "123456", "hunter22", "sk-ant", "a known secret"):
        assert secret not in words


@pytest.mark.law("A12")
@given(st.text(), st.text(min_size=8), st.text())
def test_a_learned_secret_never_passes(before: str, secret: str, after: str) -> None:
    redactor = Redactor()
    redactor.learn(secret)
    shown = redactor(None, "debug", {"event": before + secret + after, "level": "debug", "more": [secret]})
    remaining = write_line(None, "debug", shown).replace(HIDDEN, "")
    assert one_line(secret) not in remaining or one_line(secret) in one_line(before) + "│" + one_line(after)


@pytest.mark.law("A12")
@pytest.mark.parametrize("key", ["authorization", "hook_token", "headers", "Cookie", "password"])
def test_a_key_that_names_a_secret_hides_any_value(key: str) -> None:
    assert clean(**{key: {"x": 1}})[key] == HIDDEN
    assert clean(outer={key: "plain"})["outer"] == {key: HIDDEN}


@pytest.mark.parametrize("level", ["info", "warning", "error"])
def test_an_agents_text_is_dropped_above_debug(level: str) -> None:
    entry = {"tool_input": {"command": "ls"}, "payload": {"a": 1}, "input": object(), "prompt": "fix it"}
    assert clean(level, **entry) == {"event": "e", "level": level}
    assert clean("debug", **entry)["tool_input"] == {"command": "ls"}


@pytest.mark.law("I6")
def test_an_entry_is_one_visible_line_on_a_terminal() -> None:
    found = clean(error="a\nb\x1b[2J\u202e", event="x\ry")
    assert write_plain(None, "info", {**found, "timestamp": "2026-01-02T03:04:05Z", "logger": "api"}) == (
        "03:04:05 info api: x⟨d⟩y  error=a⏎b⟨1b⟩[2J⟨202e⟩"
    )


def test_long_text_is_cut_and_says_so() -> None:
    assert str(clean(error="x" * 9000)["error"]).endswith("x… (9000 characters)")


def test_ordinary_words_stay() -> None:
    digest, path = "0a" * 32, "/home/dev/.claude/projects/-home-dev-a-long-name-of-a-folder-that-goes-on-and-on"
    session = "5bcc959a-d2e0-4b84-99d9-a702456ddf00"
    assert clean(a=digest, b=path, c=session, n=3, ok=True) == {
        "event": "e",
        "level": "info",
        "a": digest,
        "b": path,
        "c": session,
        "n": 3,
        "ok": True,
    }


def broken(error: Exception) -> Exception:
    try:
        try:
            raise KeyError("inner words")
        except KeyError:
            raise error from None
    except Exception as caught:
        return caught


def test_an_exception_shows_its_place_and_kind_but_no_agents_text() -> None:
    lines = exception_lines(broken(ValueError("rm -rf secret-folder")), keep_words=False)
    assert lines[-1] == "builtins.ValueError"
    assert "test_log_redaction.py" in lines[0]
    assert exception_lines(broken(ValueError("words")), keep_words=True)[-1] == "builtins.ValueError: words"
    assert exception_lines(broken(BadInput("k", "ours")), keep_words=False)[-1].endswith("BadInput: ours")


def test_log_files_are_private_and_bounded(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    handler = LogFile(path)
    handler.maxBytes = 1000
    for n in range(200):
        handler.emit(logging.makeLogRecord({"msg": f"entry {n} " + "x" * 50}))
    handler.close()
    files = sorted(file.name for file in tmp_path.iterdir())
    assert files == ["daemon.log", "daemon.log.1", "daemon.log.2"]
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 3000


def test_a_librarys_repeated_message_is_logged_once_and_other_messages_always() -> None:
    repeats = RepeatFilter()
    foreign = logging.makeLogRecord({"name": "uvicorn.error", "msg": "Invalid HTTP request from %s", "args": ("a",)})
    other = logging.makeLogRecord({"name": "uvicorn.error", "msg": "something else"})
    own = logging.makeLogRecord({"name": "loop", "msg": {"event": "not recorded"}})
    assert [repeats.filter(r) for r in (foreign, foreign, other, own, own)] == [True, False, True, True, True]
