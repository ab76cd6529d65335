"""The REST client of every surface; it uses the owner's token from the home."""

from __future__ import annotations

import http.client
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec

from quarterdeck.errors import NoDaemon, Refused
from quarterdeck.surfaces.client.places import events_by_place
from quarterdeck.surfaces.client.view_reader import read_views
from quarterdeck.views.resources.session_view import SessionView

CALL_SECONDS = 15.0
START_HINT = "; start it with: qd up"
HUNG_HINT = "; if that stays so, end its process with: kill -9 {pid}, then start it with: qd up"


class Client:
    """Calls a daemon. `surface` is recorded with every decision, `hint` says what to do when it does not answer."""

    def __init__(
        self, url: str, token: str, surface: str = "cli", timeout: float = CALL_SECONDS, hint: str = START_HINT
    ) -> None:
        self.url = url
        self._hint = hint
        self._hung_hint = hint
        self._token = token
        self._surface = surface
        self._timeout = timeout

    @classmethod
    def of_home(cls, home: Path, surface: str = "cli", timeout: float = CALL_SECONDS) -> Client:
        """A client for the daemon of this home; NoDaemon when none is running."""
        try:
            note = json.loads((home / "run" / "daemon.json").read_text(encoding="utf-8"))
            token = (home / "token").read_text(encoding="utf-8").strip()
            urlsplit(url := str(note["url"])).port  # noqa: B018 an address whose port is none is refused here
            client = cls(url, token, surface, timeout)
            if isinstance(note.get("pid"), int):
                client._hung_hint = HUNG_HINT.format(pid=note["pid"])
            return client
        except FileNotFoundError:
            raise NoDaemon(f"Quarterdeck is not running (home: {home}){START_HINT}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NoDaemon(f"{home}: cannot be read ({error}){START_HINT}") from None

    @classmethod
    def endpoint(cls, home: Path) -> tuple[str, str]:
        """The current address and token of a home's daemon."""
        found = cls.of_home(home)
        return found.url, found._token

    def get(self, path: str, /, **query: Any) -> dict[str, Any]:
        """GET a view; parameters that are None are left out."""
        parameters = [(k, v) for k, v in query.items() if v is not None and v != []]
        return self.call("GET", f"{path}?{urlencode(parameters, doseq=True)}" if parameters else path)

    def all(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """Every item of a list, page after page."""
        name = path.rpartition("/")[2]
        found: list[dict[str, Any]] = []
        after = None
        while True:
            page = self.get(path, after=after, limit=1000, **query)
            found += page[name]
            after = page["next"]
            if after is None:
                return found

    def sessions(self) -> list[SessionView]:
        """Every session, ended ones too."""
        return read_views(SessionView, self.all("/api/v1/sessions"))

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self.call("POST", path, body)

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Make a call. `Refused` has the daemon's error message."""
        where = urlsplit(self.url)
        connecting = http.client.HTTPSConnection if where.scheme == "https" else http.client.HTTPConnection
        connection = connecting(where.hostname or "127.0.0.1", where.port, timeout=self._timeout)
        headers = {"Authorization": f"Bearer {self._token}", "X-Quarterdeck-Client": self._surface}
        if self._surface == "cli" and os.isatty(0) and os.isatty(1):
            headers["X-Quarterdeck-Terminal"] = "1"  # a person typed this command
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, path, content, headers)
            response = connection.getresponse()
            return _read(response.status, response.read())
        except (OSError, http.client.HTTPException) as error:
            hint = self._hung_hint if isinstance(error, TimeoutError) else self._hint
            raise NoDaemon(f"{self.url} is not responding ({error or type(error).__name__}){hint}") from None
        finally:
            connection.close()


def _read(status: int, content: bytes) -> dict[str, Any]:
    try:
        answer = msgspec.json.decode(content)
    except ValueError:
        raise Refused(f"the daemon answered {status} with something that is not JSON") from None
    if status >= 400:
        error = answer.get("error", {}) if isinstance(answer, dict) else {}
        raise Refused(str(error.get("message", f"the daemon answered {status}")))
    return events_by_place(dict(answer))
