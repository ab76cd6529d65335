"""The ways to tell a person: a notification on this desktop, a signed webhook, a push to a phone."""

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
from quarterdeck.config import NotifySettings, host_of
from quarterdeck.core.engine.notifications import Notice
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.daemon.notify.http_post import NotSent, check_url, post
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
SCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")
AGENT = f"quarterdeck/{__version__}"


class Channel(Protocol):
    """Tells a person, from a thread of its own. `where` may be shown and logged."""

    @property
    def name(self) -> str: ...

    @property
    def where(self) -> str: ...

    def send(self, notice: Notice, page: str | None) -> str:
        """What came back. Raises NotSent."""
        ...

    def trouble(self) -> str | None:
        """What is known to be wrong without a try."""
        ...


class Desktop:
    """`notify-send` on Linux, `osascript` on macOS; text is handed over as arguments, never as a script."""

    name = "desktop"

    def __init__(self, platform: str = sys.platform) -> None:
        self._mac = platform == "darwin"
        self.where = "osascript" if self._mac else "notify-send"

    def command(self, notice: Notice) -> list[str]:
        """The arguments; a body for `notify-send` is markup, so it is escaped."""
        title = f"Quarterdeck: {notice.title}"
        if self._mac:
            return [self.where, *(part for line in SCRIPT for part in ("-e", line)), title, notice.message]
        urgency = "critical" if notice.risk == "critical" else "normal"
        named = ["--app-name=Quarterdeck", f"--urgency={urgency}"]
        return [self.where, *named, "--", title, html.escape(notice.message, quote=False)]

    def trouble(self) -> str | None:
        if shutil.which(self.where) is None:
            package = "" if self._mac else "; install libnotify-bin (libnotify on Fedora and Arch)"
            return f"there is no {self.where} on the daemon's PATH{package}"
        return None

    def send(self, notice: Notice, page: str | None) -> str:
        if missing := self.trouble():
            raise NotSent(missing)
        env = {name: os.environ[name] for name in DESKTOP_ENVIRONMENT if name in os.environ}
        try:
            done = run(self.command(notice), cwd="/", env=env, seconds=DESKTOP_SECONDS, limit=DESKTOP_OUTPUT)
        except (OSError, ValueError) as error:  # the latter where the system's encoding has no such letter
            raise NotSent(f"{self.where}: {type(error).__name__}", again=True) from None
        if done.cut:
            raise NotSent(f"{self.where}: gave no end within {DESKTOP_SECONDS:g} s, or said too much", again=True)
        if done.code != 0:
            said = one_line(done.err.decode(errors="replace").strip())[:200]
            raise NotSent(f"{self.where} ended with {done.code}: {said or 'no word'}")
        return "shown"


class Webhook:
    """POSTs JSON, signed: the receiver knows who speaks, and by the time that it is not said again."""

    name = "webhook"

    def __init__(self, url: str, secret: str) -> None:
        self._url, self._secret = url, secret.encode()
        self.where = host_of(url)

    def trouble(self) -> str | None:
        return None

    def send(self, notice: Notice, page: str | None) -> str:
        told = {"event": "requests.waiting", **msgspec.to_builtins(notice), "url": page}
        body = msgspec.json.encode(told)
        at = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": AGENT,
            "X-Quarterdeck-Delivery": notice.notice_id,
            "X-Quarterdeck-Timestamp": at,
            "X-Quarterdeck-Signature": f"sha256={signature(self._secret, at, body)}",
        }
        return str(post(self._url, body, headers))


def signature(secret: bytes, timestamp: str, body: bytes) -> str:
    """What proves that a body of this time is ours."""
    return hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


class Push:
    """Publishes to a topic of ntfy or of what speaks as it does; as JSON, so that every letter arrives."""

    name = "push"

    def __init__(self, url: str, token: str | None) -> None:
        where = urlsplit(url)
        folder, _, self._topic = where.path.rpartition("/")
        self._root = where._replace(path=f"{folder}/").geturl()
        self._token = token
        self.where = host_of(url)

    def trouble(self) -> str | None:
        return None

    def send(self, notice: Notice, page: str | None) -> str:
        told = {
            "topic": self._topic,
            "title": notice.title,
            "message": notice.message,
            "priority": PRIORITIES.get(notice.risk, 5),
            "tags": [TAGS.get(notice.risk, "hourglass")],
            **({"click": page} if page else {}),
        }
        headers = {"Content-Type": "application/json", "User-Agent": AGENT}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        return str(post(self._root, msgspec.json.encode(told), headers))


def channels_of(settings: NotifySettings, redactor: Redactor) -> list[Channel]:
    """Those that are configured, or what is wrong with them. Their secrets never reach the log."""
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
