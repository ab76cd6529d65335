"""Sends runs and tool calls as OpenTelemetry spans from a thread of its own. Imported only when it is configured,
because the libraries are optional and slow to load."""

from __future__ import annotations

import threading
from urllib.parse import urlsplit

import structlog

from quarterdeck import __version__
from quarterdeck.config.addresses import is_loopback
from quarterdeck.config.settings import OtelSettings
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import State
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.daemon.telemetry.spans import Span, SpanBuilder
from quarterdeck.errors import ConfigError
from quarterdeck.system.private_files import read_private

try:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, TraceFlags
    from opentelemetry.trace.status import Status, StatusCode
except ImportError as error:
    raise ConfigError(
        f"otel.endpoint is set, but OpenTelemetry is not installed ({error.name}): pip install 'quarterdeck[otel]'"
    ) from None

QUEUE, BATCH, DELAY_MILLISECONDS = 8_192, 256, 1_000
EXPORT_SECONDS = 5.0
STOP_SECONDS = 1.0
SCOPE = InstrumentationScope("quarterdeck", __version__)

logger = structlog.get_logger("otel")


class Exporter:
    """Takes events on the loop and returns at once. Spans that the collector cannot accept in time are dropped."""

    def __init__(self, settings: OtelSettings, state: State, redactor: Redactor) -> None:
        url, headers = traces_url(settings), read_headers(settings, redactor)
        self._spans = SpanBuilder(include_content=settings.include_content)
        self._spans.resume(state)
        self._resource = Resource.create(
            {
                "service.name": settings.service_name,
                "service.version": __version__,
                "service.instance.id": state.runner_id,
            }
        )
        self._processor = BatchSpanProcessor(
            OTLPSpanExporter(endpoint=url, headers=headers, timeout=EXPORT_SECONDS),
            max_queue_size=QUEUE,
            schedule_delay_millis=DELAY_MILLISECONDS,
            max_export_batch_size=BATCH,
        )
        logger.info("spans are sent", url=url)

    def __call__(self, events: list[FeedEvent]) -> None:
        for event in events:
            for span in self._spans.take(event):
                self._processor.on_end(self._readable(span))

    def _readable(self, span: Span) -> ReadableSpan:
        return ReadableSpan(
            name=span.name,
            context=_context(span.trace_id, span.span_id),
            parent=_context(span.trace_id, span.parent_id) if span.parent_id is not None else None,
            resource=self._resource,
            attributes=span.attributes,
            kind=SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, span.error) if span.error else Status(StatusCode.UNSET),
            start_time=int(span.started_at * 1e9),
            end_time=int(span.ended_at * 1e9),
            instrumentation_scope=SCOPE,
        )

    def stop(self) -> None:
        """Send the rest, for a second at most; a collector that does not respond is abandoned."""
        thread = threading.Thread(target=self._processor.shutdown, daemon=True, name="otel-stop")
        thread.start()
        thread.join(STOP_SECONDS)


def _context(trace_id: int, span_id: int) -> SpanContext:
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def traces_url(settings: OtelSettings) -> str:
    """The URL for spans: the endpoint as it is, or with the usual path when it has none."""
    url = settings.endpoint or ""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("otel.endpoint must be a URL like http://127.0.0.1:4318")
    if parts.username or parts.password or parts.query:
        raise ConfigError("otel.endpoint must not hold a secret: put that into otel.headers_file")
    if parts.scheme == "http" and settings.headers_file and not is_loopback(parts.hostname):
        raise ConfigError(
            "otel.endpoint must be https: otherwise otel.headers_file would cross the network unencrypted"
        )
    return url if parts.path.strip("/") else f"{url.rstrip('/')}/v1/traces"


def read_headers(settings: OtelSettings, redactor: Redactor) -> dict[str, str]:
    """Read `Name: value` lines from a file that only this user can read. Their values never reach the log."""
    if not settings.headers_file:
        return {}
    path, lines = settings.headers_file, read_private("otel.headers_file", settings.headers_file).splitlines()
    headers: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if line.strip() and not line.startswith("#"):
            if not colon or not name or not value:
                raise ConfigError(f"otel.headers_file: {path}: line {number} must be like Name: value")
            redactor.learn(value)
            headers[name.lower()] = value
    return headers
