"""Notification channels: settings that are refused before anything is sent, and how text is passed on."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.config.settings import NotifySettings
from quarterdeck.core.text.audit.redaction import HIDDEN
from quarterdeck.core.text.notifications import Notice
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
    ("url", "message"),
    [
        ("example.org/hook", "must be a URL"),
        ("https://", "must be a URL"),
        ("https://[::1/x", "must be a URL"),
        ("https://a.example:99999/x", "must be a URL"),
        ("https://a.example/a b", "must be a URL"),
        ("https://a.example/x\r\nHost: b", "must be a URL"),
        ("https://a.example/x\x07", "must be a URL"),
        ("https://a.example/\x1b[2Jx", "must be a URL"),
        ("https://a.example/\x7f", "must be a URL"),
        ("https://a.example/\u200bx", "must be a URL"),
        ("https://a\u202e.example/x", "must be a URL"),
        ("https://a.example/\U000e0041", "must be a URL"),
        ("ftp://a.example/x", "must be a URL"),
        ("https://me:pass@a.example/x", "put secrets into files"),
        ("https://a.example/x?key=pass", "put secrets into files"),
        ("http://a.example/x", "must be https"),
        ("http://127.0.0.1.example/x", "must be https"),
    ],
)
def test_a_url_that_would_reveal_a_secret_is_refused_and_not_quoted(url: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refused:
        check_url("notify.webhook_url", url)
    assert "pass" not in str(refused.value)


@pytest.mark.parametrize(
    "url", ["https://a.example/x", "http://127.0.0.1:8080/x", "http://localhost/x", "http://[::1]/x"]
)
def test_https_and_loopback_are_accepted(url: str) -> None:
    check_url("notify.webhook_url", url)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"webhook_url": "https://a.example/x"}, "needs notify.webhook_secret_file"),
        ({"webhook_url": "https://a.example/x", "webhook_secret_file": "/none"}, "cannot be read"),
        ({"push_url": "https://a.example/"}, "must end with a topic"),
        ({"push_url": "https://a.example/to.pic"}, "must end with a topic"),
    ],
)
def test_a_half_configured_channel_is_an_error_that_names_the_key(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        channels_of(NotifySettings.model_validate(settings), Redactor())


@pytest.mark.parametrize(
    ("text", "mode", "message"),
    [
        ("short", 0o600, "at least 16"),
        ("a" * 32, 0o644, "chmod 600"),
        ("", 0o600, "one line"),
        ("ä" * 32, 0o600, "plain"),
    ],
)
def test_a_secret_must_be_long_private_and_of_plain_characters(
    tmp_path: Path, text: str, mode: int, message: str
) -> None:
    settings = NotifySettings(webhook_url="https://a.example/x", webhook_secret_file=private(tmp_path, text, mode))
    with pytest.raises(ConfigError, match=message):
        channels_of(settings, Redactor())


@pytest.mark.law("A12")
def test_the_log_hides_secrets_and_topics(tmp_path: Path) -> None:
    redactor = Redactor()
    settings = NotifySettings(
        push_url="https://ntfy.example/my-long-topic", push_token_file=private(tmp_path, "tk_0123456789\n")
    )
    [push] = channels_of(settings, redactor)
    assert (push.name, push.where, push.problem()) == ("push", "https://ntfy.example", None)
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
