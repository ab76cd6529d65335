"""Where the daemon's log goes: JSON lines in the home, of bounded size, and stderr; everything through one pipe."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, TextIO

import structlog
from structlog.stdlib import ProcessorFormatter

from quarterdeck.daemon.telemetry.log_redaction import Redactor

MAX_BYTES = 5_000_000
KEPT = 3
SELDOM_SECONDS = 60.0
MAX_SAYINGS = 1_000

Render = Callable[[Any, str, Any], str]


class LogFile(RotatingFileHandler):
    """A file that only we can read and that is never reached through a link."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MAX_BYTES, backupCount=KEPT - 1, encoding="utf-8", delay=True)

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        return TextIOWrapper(os.fdopen(os.open(self.baseFilename, flags, 0o600), "ab"), encoding="utf-8")


def start_logs(path: Path, level: str, stream: TextIO | None, redactor: Redactor) -> None:
    """Log into the file, and on the stream as JSON, or on a terminal as text and only what needs a person. A log that
    cannot be written stops nothing."""
    logging.raiseExceptions = False
    handlers: list[logging.Handler] = [_with(LogFile(path), level, write_line, redactor)]
    if stream is not None and stream.isatty():
        usual = level if level == "debug" else "warning"
        handlers.append(_with(logging.StreamHandler(stream), usual, write_plain, redactor))
    elif stream is not None:
        handlers.append(_with(logging.StreamHandler(stream), level, write_line, redactor))
    logging.basicConfig(level=level.upper(), handlers=handlers, force=True)
    logging.getLogger("urllib3").setLevel(logging.INFO)
    structlog.configure(
        processors=[*_EVERY, ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


_EVERY: list[Any] = [
    structlog.stdlib.add_logger_name,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
"""What every entry gets, ours and the libraries'."""


class Seldom(logging.Filter):
    """A library may say the same thing once a minute: one that cannot reach its peer would fill the log."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if not isinstance(record.msg, str):
            return True
        said, now = (record.name, record.msg), time.monotonic()
        if now - self._last.get(said, -SELDOM_SECONDS) < SELDOM_SECONDS:
            return False
        if len(self._last) >= MAX_SAYINGS:
            self._last.clear()
        self._last[said] = now
        return True


def _with(handler: logging.Handler, level: str, render: Render, redactor: Redactor) -> logging.Handler:
    handler.setLevel(level.upper())
    handler.addFilter(Seldom())
    formatter = ProcessorFormatter(
        processors=[ProcessorFormatter.remove_processors_meta, redactor, render],
        foreign_pre_chain=[*_EVERY],
    )
    handler.setFormatter(formatter)
    return handler


def write_line(logger: Any, method: str, event: Mapping[str, Any]) -> str:
    """An entry as one line of JSON."""
    return json.dumps(event, ensure_ascii=False, default=repr)


def write_plain(logger: Any, method: str, event: Mapping[str, Any]) -> str:
    """An entry for a person: when, how bad, who says what; then where it broke."""
    first = ("timestamp", "level", "logger", "event", "exception")
    more = " ".join(f"{key}={value}" for key, value in event.items() if key not in first)
    at = str(event.get("timestamp", ""))[11:19]
    line = f"{at} {event.get('level', '')} {event.get('logger', '')}: {event.get('event', '')}  {more}".rstrip()
    return "\n".join([line, *(f"    {where}" for where in event.get("exception", ()))])


def log_what_escapes(loop: asyncio.AbstractEventLoop) -> None:
    """What a task or callback did not catch is logged without its words, which may quote an agent."""
    logger = structlog.get_logger("loop")

    def escaped(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        logger.error("something escaped", what=context.get("message"), exc_info=context.get("exception"))

    loop.set_exception_handler(escaped)
