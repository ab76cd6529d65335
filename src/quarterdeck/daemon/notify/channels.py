"""Notification channels: this desktop, a signed webhook, a push to a phone."""

from __future__ import annotations

import hashlib
import hmac
import html
import os
import re
import shutil
import sys
import time
from typing import Protocol
from urllib.parse import urlsplit

import msgspec

from quarterdeck import __version__
from quarterdeck.config.addresses import host_of
from quarterdeck.config.settings import NotifySettings
from quarterdeck.core.text.notifications import Notice
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.daemon.notify.http_post import NotificationFailed, check_url, post
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.errors import ConfigError
from quarterdeck.system.private_files import read_private
from quarterdeck.system.run_program import run

DESKTOP_SECONDS = 5.0
DESKTOP_OUTPUT = 64 * 1024
SHORTEST_SECRET = 16
TOPIC = re.compile(r"[A-Za-z0-9_-]{1,64}")
PRIORITIES = {"low": 3, "medium": 3, "high": 4, "critical": 5}
TAGS = {"high": "warning", "critical": "rotating_light"}
DESKTOP_ENVIRONMENT = (
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "HOME",
    "LANG",
    "PATH",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
)
MAC_SCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")
USER_AGENT = f"quarterdeck/{__version__}"


class Channel(Protocol):
    """Notifies a person. Called in a thread of its own. `where` may be shown and logged."""

    @property
    def name(self) -> str: ...

    @property
    def where(self) -> str: ...

    def send(self, notice: Notice, page: str | None) -> str:
        """Send a notice and return the answer. Raises NotificationFailed."""

    def problem(self) -> str | None:
        """A problem that is known without a try."""


class Desktop:
    """`notify-send` on Linux, `osascript` on macOS. Text is passed as arguments, never as part of a script."""

    name = "desktop"

    def __init__(self, platform: str = sys.platform) -> None:
        self._mac = platform == "darwin"
        self.where = "osascript" if self._mac else "notify-send"

    def command(self, notice: Notice) -> list[str]:
        """The command with its arguments. `notify-send` reads a body as markup, so it is escaped."""
        title = f"Quarterdeck: {notice.title}"
        if self._mac:
            return [self.where, *(part for line in MAC_SCRIPT for part in ("-e", line)), title, notice.message]
        urgency = "critical" if notice.risk == "critical" else "normal"
        options = ["--app-name=Quarterdeck", f"--urgency={urgency}"]
        return [self.where, *options, "--", title, html.escape(notice.message, quote=False)]

    def problem(self) -> str | None:
        if shutil.which(self.where) is None:
            package = "" if self._mac else "; install libnotify-bin (libnotify on Fedora and Arch)"
            return f"there is no {self.where} on the daemon's PATH{package}"
        return None

    def send(self, notice: Notice, page: str | None) -> str:
        if missing := self.problem():
            raise NotificationFailed(missing)
        env = {name: os.environ[name] for name in DESKTOP_ENVIRONMENT if name in os.environ}
        try:
            result = run(self.command(notice), cwd="/", env=env, seconds=DESKTOP_SECONDS, limit=DESKTOP_OUTPUT)
        except (OSError, ValueError) as error:  # the latter where the system's encoding has no such letter
            raise NotificationFailed(f"{self.where}: {type(error).__name__}", again=True) from None
        if result.cut:
            raise NotificationFailed(
                f"{self.where}: did not end within {DESKTOP_SECONDS:g} s, or printed too much", again=True
            )
        if result.code != 0:
            words = one_line(result.err.decode(errors="replace").strip())[:200]
            raise NotificationFailed(f"{self.where} ended with {result.code}: {words or 'no message'}")
        return "shown"


class Webhook:
    """POSTs signed JSON: the signature proves the sender, and the timestamp in it that the call is not a replay."""

    name = "webhook"

    def __init__(self, url: str, secret: str) -> None:
        self._url, self._secret = url, secret.encode()
        self.where = host_of(url)

    def problem(self) -> str | None:
        return None

    def send(self, notice: Notice, page: str | None) -> str:
        content = {"event": "requests.waiting", **msgspec.to_builtins(notice), "url": page}
        body = msgspec.json.encode(content)
        at = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": USER_AGENT,
            "X-Quarterdeck-Delivery": notice.notice_id,
            "X-Quarterdeck-Timestamp": at,
            "X-Quarterdeck-Signature": f"sha256={signature(self._secret, at, body)}",
        }
        return str(post(self._url, body, headers))


def signature(secret: bytes, timestamp: str, body: bytes) -> str:
    """The signature that proves who sent this body at this time."""
    return hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


class Push:
    """Publishes to a topic of ntfy or a compatible server; as JSON, because headers cannot carry every character."""

    name = "push"

    def __init__(self, url: str, token: str | None) -> None:
        where = urlsplit(url)
        folder, _, self._topic = where.path.rpartition("/")
        self._root = where._replace(path=f"{folder}/").geturl()
        self._token = token
        self.where = host_of(url)

    def problem(self) -> str | None:
        return None

    def send(self, notice: Notice, page: str | None) -> str:
        content = {
            "topic": self._topic,
            "title": notice.title,
            "message": notice.message,
            "priority": PRIORITIES.get(notice.risk, 5),
            "tags": [TAGS.get(notice.risk, "hourglass")],
            **({"click": page} if page else {}),
        }
        headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        return str(post(self._root, msgspec.json.encode(content), headers))


def channels_of(settings: NotifySettings, redactor: Redactor) -> list[Channel]:
    """The configured channels, or an error with their first problem. Their secrets never reach the log."""
    found: list[Channel] = [Desktop()] if settings.desktop else []
    if settings.webhook_url:
        check_url("notify.webhook_url", settings.webhook_url)
        if not settings.webhook_secret_file:
            raise ConfigError(
                "notify.webhook_url needs notify.webhook_secret_file, a file of mode 600; "
                "make one with: openssl rand -hex 32"
            )
        secret = _secret("notify.webhook_secret_file", settings.webhook_secret_file, redactor)
        if len(secret) < SHORTEST_SECRET:
            raise ConfigError(f"notify.webhook_secret_file: must hold at least {SHORTEST_SECRET} characters")
        redactor.learn(urlsplit(settings.webhook_url).path)
        found.append(Webhook(settings.webhook_url, secret))
    if settings.push_url:
        check_url("notify.push_url", settings.push_url)
        topic = urlsplit(settings.push_url).path.rpartition("/")[2]
        if not TOPIC.fullmatch(topic):
            raise ConfigError("notify.push_url must end with a topic, like https://ntfy.example.org/my-topic")
        redactor.learn(topic)
        token = settings.push_token_file
        found.append(Push(settings.push_url, _secret("notify.push_token_file", token, redactor) if token else None))
    return found


def _secret(setting: str, path: str, redactor: Redactor) -> str:
    secret = read_private(setting, path).strip()
    if not secret or not secret.isascii() or not secret.isprintable():
        raise ConfigError(f"{setting}: {path}: must hold one line of plain characters")
    redactor.learn(secret)
    return secret
