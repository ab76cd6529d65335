"""The daemon's log: JSON lines in a file of bounded size and on stderr, both through one pipeline."""

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

from quarterdeck.config.settings import LogSettings
from quarterdeck.daemon.telemetry.log_redaction import Redactor

MAX_BYTES = 5_000_000
KEPT = 3
REPEAT_SECONDS = 60.0
MAX_MESSAGES = 1_000

Render = Callable[[Any, str, Any], str]


class LogFile(RotatingFileHandler):
    """A file that only this user can read and that is never reached through a link."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MAX_BYTES, backupCount=KEPT - 1, encoding="utf-8", delay=True)

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        return TextIOWrapper(os.fdopen(os.open(self.baseFilename, flags, 0o600), "ab"), encoding="utf-8")


def start_logs(path: Path, settings: LogSettings, stream: TextIO | None, redactor: Redactor) -> None:
    """Log to the file as JSON, and to the stream. A log that cannot be written stops nothing."""
    logging.raiseExceptions = False
    level = settings.level
    handlers: list[logging.Handler] = [_configured(LogFile(path), level, write_line, redactor)]
    if stream is not None:
        shown, render = _on_stream(settings, is_terminal=stream.isatty())
        handlers.append(_configured(logging.StreamHandler(stream), shown, render, redactor))
    logging.basicConfig(level=level.upper(), handlers=handlers, force=True)
    logging.getLogger("urllib3").setLevel(logging.INFO)
    structlog.configure(
        processors=[*_EVERY, ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def _on_stream(settings: LogSettings, *, is_terminal: bool) -> tuple[str, Render]:
    """The level and format of the stream: unless `log.format` says otherwise it is JSON, but on a terminal text and
    only what needs a person."""
    if settings.format is None and is_terminal and settings.level != "debug":
        return "warning" if settings.level == "info" else settings.level, write_plain
    is_text = is_terminal if settings.format is None else settings.format == "text"
    return settings.level, write_plain if is_text else write_line


_EVERY: list[Any] = [
    structlog.stdlib.add_logger_name,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
"""The steps for every entry, the libraries' too."""


class RepeatFilter(logging.Filter):
    """Drops a message that was logged in the last minute: a library that cannot reach its peer would fill the log."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if not isinstance(record.msg, str):
            return True
        message, now = (record.name, record.msg), time.monotonic()
        if now - self._last.get(message, -REPEAT_SECONDS) < REPEAT_SECONDS:
            return False
        if len(self._last) >= MAX_MESSAGES:
            self._last.clear()
        self._last[message] = now
        return True


def _configured(handler: logging.Handler, level: str, render: Render, redactor: Redactor) -> logging.Handler:
    handler.setLevel(level.upper())
    handler.addFilter(RepeatFilter())
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
    """An entry for a person: time, level, logger, message and values; then the place of an error."""
    first = ("timestamp", "level", "logger", "event", "exception")
    more = " ".join(f"{key}={value}" for key, value in event.items() if key not in first)
    at = str(event.get("timestamp", ""))[11:19]
    line = f"{at} {event.get('level', '')} {event.get('logger', '')}: {event.get('event', '')}  {more}".rstrip()
    return "\n".join([line, *(f"    {where}" for where in event.get("exception", ()))])


def log_unhandled_errors(loop: asyncio.AbstractEventLoop) -> None:
    """Log errors that no task or callback caught, without their text, which may quote an agent."""
    logger = structlog.get_logger("loop")

    def escaped(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        logger.error("an error was not handled", message=context.get("message"), exc_info=context.get("exception"))

    loop.set_exception_handler(escaped)
