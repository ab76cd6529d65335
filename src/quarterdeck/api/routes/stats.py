"""How the daemon does, for people, programs and Prometheus."""

from __future__ import annotations

import msgspec
from litestar import Response, get
from litestar.datastructures import State as AppState

from quarterdeck.api.backend import Desk
from quarterdeck.api.routes.queries import OBSERVE
from quarterdeck.api.views.prometheus import MEDIA_TYPE, exposition
from quarterdeck.api.views.stats import StatsView


@get("/stats", opt=OBSERVE, sync_to_thread=False)
def get_stats(state: AppState) -> StatsView:
    """The daemon's own figures: events, latencies, queue, held requests, hook overhead per session, store."""
    desk: Desk = state.desk
    return msgspec.convert(desk.stats(), StatsView)


@get("/metrics", opt=OBSERVE, sync_to_thread=False, media_type="text/plain")
def get_metrics(state: AppState) -> Response[str]:
    """The same for Prometheus."""
    desk: Desk = state.desk
    return Response(exposition(desk.stats()), media_type=MEDIA_TYPE)
