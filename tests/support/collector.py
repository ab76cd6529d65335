"""A real OTLP/HTTP receiver on loopback: decodes the spans it gets, or acts like a broken one."""

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.daemon import until


class Collector:
    """Listens inside a `with` block. `hang` never answers; `status` is its answer."""

    def __init__(self, *, hang: bool = False, status: int = 200) -> None:
        self.spans: list[Span] = []
        self.resources: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.calls = 0
        released = self._released = threading.Event()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.calls += 1
                if hang:
                    released.wait()
                elif status == 200:
                    collector.take(body, {k.lower(): v for k, v in self.headers.items()})
                self.send_response(status)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def take(self, body: bytes, headers: dict[str, str]) -> None:
        request = ExportTraceServiceRequest()
        request.ParseFromString(gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body)
        for resource in request.resource_spans:
            self.resources.append({a.key: a.value.string_value for a in resource.resource.attributes})
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        self.headers.append(headers)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(60)

    def until_named(self, name: str, seconds: float = 10.0) -> Span:
        """The first span of this name."""
        return until(lambda: [s for s in self.spans if s.name == name], seconds, what=f"a span {name}")[0]


def attributes(span: Span) -> dict[str, Any]:
    """The attributes of a span, as plain values."""
    return {a.key: getattr(a.value, str(a.value.WhichOneof("value"))) for a in span.attributes}
