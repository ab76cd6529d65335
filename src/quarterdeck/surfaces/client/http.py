"""The one way a surface talks to its daemon: over the API, with the owner's token of the home."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec

from quarterdeck.errors import NoDaemon, Refused

CALL_SECONDS = 15.0


class Client:
    """Calls a daemon. `surface` is the name under which its decisions are recorded."""

    def __init__(self, url: str, token: str, surface: str = "cli", timeout: float = CALL_SECONDS) -> None:
        self.url = url
        self._token = token
        self._surface = surface
        self._timeout = timeout

    @classmethod
    def of_home(cls, home: Path, surface: str = "cli", timeout: float = CALL_SECONDS) -> Client:
        """The daemon that runs in this home."""
        hint = "start it with: qd up"
        try:
            note = json.loads((home / "run" / "daemon.json").read_text(encoding="utf-8"))
            token = (home / "token").read_text(encoding="utf-8").strip()
            urlsplit(url := str(note["url"])).port  # noqa: B018 an address whose port is none is refused here
            return cls(url, token, surface, timeout)
        except FileNotFoundError:
            raise NoDaemon(f"no Quarterdeck runs in {home}; {hint}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NoDaemon(f"{home}: cannot be read ({error}); {hint}") from None

    @classmethod
    def where(cls, home: Path) -> tuple[str, str]:
        """The address and the credential, as the home says now."""
        found = cls.of_home(home)
        return found.url, found._token

    def get(self, path: str, /, **query: Any) -> dict[str, Any]:
        """GET a view; parameters that are None are left out."""
        given = [(k, v) for k, v in query.items() if v is not None and v != []]
        return self.call("GET", f"{path}?{urlencode(given, doseq=True)}" if given else path)

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

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self.call("POST", path, body)

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """One call. Refused carries the daemon's own words."""
        where = urlsplit(self.url)
        connection = http.client.HTTPConnection(where.hostname or "127.0.0.1", where.port, timeout=self._timeout)
        headers = {"Authorization": f"Bearer {self._token}", "X-Quarterdeck-Client": self._surface}
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, path, content, headers)
            response = connection.getresponse()
            return _read(response.status, response.read())
        except (OSError, http.client.HTTPException) as error:
            raise NoDaemon(
                f"{self.url} does not answer ({error or type(error).__name__}); start it with: qd up"
            ) from None
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
    return dict(answer)
