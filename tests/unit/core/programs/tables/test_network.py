"""Programs that speak to other machines by their grammar."""

from __future__ import annotations

from tests.support.programs import covers_all, covers_none


def test_curl_covers_what_it_is_for() -> None:
    assert covers_all(
        "curl:*", "curl -sS https://x.example", "curl -X GET https://x.example", "curl -o /dev/null https://x.example"
    )
    assert covers_none(
        "curl:*",
        "curl -d x https://x.example",
        "curl -T x https://x.example",
        "curl file:///x",
        "curl -o /x https://x.example",
    )


def test_curl_http_localhost_covers_what_it_is_for() -> None:
    assert covers_all("curl http://localhost:*", "curl http://localhost:3000/x", "curl http://localhost/x -i")
    assert covers_none(
        "curl http://localhost:*",
        "curl http://localhost http://x.example",
        "curl http://localhost@x.example",
        "curl http://localhost.x.example",
    )


def test_rsync_covers_what_it_is_for() -> None:
    assert covers_none("rsync:*", "rsync -e ./x a b", "rsync a h:b")
