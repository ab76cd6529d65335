"""Ways to tell a person: what is refused before anything is sent, and how text is handed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.config import NotifySettings
from quarterdeck.core.engine.notifications import Notice
from quarterdeck.core.text.redaction import HIDDEN
from quarterdeck.daemon.notify.channels import Desktop, channels_of
from quarterdeck.daemon.notify.http_post import check_url
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.errors import ConfigError

NOTICE = Notice(notice_id="s1:R1:E2", at=1.0, risk="critical", title='a "b" \\ $(c)', message="<i>d</i>", requests=())


def private(folder: Path, text: str, mode: int = 0o600) -> str:
    file = folder / "secret"
    file.write_text(text)
    file.chmod(mode)
    return str(file)


@pytest.mark.law("A12")
@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("example.org/hook", "must be a URL"),
        ("https://", "must be a URL"),
        ("https://[::1/x", "must be a URL"),
        ("https://a.example:99999/x", "must be a URL"),
        ("https://a.example/a b", "must be a URL"),
        ("https://a.example/x\r\nHost: b", "must be a URL"),
        ("ftp://a.example/x", "must be a URL"),
        ("https://me:pass@a.example/x", "secrets belong into files"),
        ("https://a.example/x?key=pass", "secrets belong into files"),
        ("http://a.example/x", "must be https"),
        ("http://127.0.0.1.example/x", "must be https"),
    ],
)
def test_an_address_that_would_tell_a_secret_is_refused_and_not_repeated(url: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        check_url("notify.webhook_url", url)
    assert "pass" not in str(refused.value)


@pytest.mark.parametrize(
    "url", ["https://a.example/x", "http://127.0.0.1:8080/x", "http://localhost/x", "http://[::1]/x"]
)
def test_https_or_this_machine_is_taken(url: str) -> None:
    check_url("notify.webhook_url", url)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"webhook_url": "https://a.example/x"}, "needs notify.webhook_secret_file"),
        ({"webhook_url": "https://a.example/x", "webhook_secret_file": "/none"}, "cannot be read"),
        ({"push_url": "https://a.example/"}, "must end with a topic"),
        ({"push_url": "https://a.example/to.pic"}, "must end with a topic"),
    ],
)
def test_a_channel_that_is_half_configured_is_named(settings: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        channels_of(NotifySettings.model_validate(settings), Redactor())


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("short", 0o600, "at least 16"),
        ("a" * 32, 0o644, "chmod 600"),
        ("", 0o600, "one line"),
        ("ä" * 32, 0o600, "plain"),
    ],
)
def test_a_secret_is_long_ours_alone_and_of_plain_characters(tmp_path: Path, text: str, mode: int, said: str) -> None:
    settings = NotifySettings(webhook_url="https://a.example/x", webhook_secret_file=private(tmp_path, text, mode))
    with pytest.raises(ConfigError, match=said):
        channels_of(settings, Redactor())


@pytest.mark.law("A12")
def test_the_log_hides_secrets_and_topics(tmp_path: Path) -> None:
    redactor = Redactor()
    settings = NotifySettings(
        push_url="https://ntfy.example/my-long-topic", push_token_file=private(tmp_path, "tk_0123456789\n")
    )
    [push] = channels_of(settings, redactor)
    assert (push.name, push.where, push.trouble()) == ("push", "https://ntfy.example", None)
    assert redactor.text("my-long-topic and tk_0123456789") == f"{HIDDEN} and {HIDDEN}"
    hook = NotifySettings(webhook_url="https://a.example/T0/B1/xyz", webhook_secret_file=private(tmp_path, "a" * 32))
    channels_of(hook, redactor)
    assert redactor.text(f"/T0/B1/xyz {'a' * 32}") == f"{HIDDEN} {HIDDEN}"


@pytest.mark.law("I9")
def test_no_text_becomes_an_option_a_script_or_markup() -> None:
    linux = Desktop("linux").command(NOTICE)
    assert linux[2:] == ["--urgency=critical", "--", 'Quarterdeck: a "b" \\ $(c)', "&lt;i&gt;d&lt;/i&gt;"]
    mac = Desktop("darwin").command(NOTICE)
    assert mac[0] == "osascript"
    assert [mac[n] for n in (1, 3, 5)] == ["-e"] * 3
    assert mac[7:] == ['Quarterdeck: a "b" \\ $(c)', "<i>d</i>"]
    assert not any("$(c)" in line for line in mac[1:7])
