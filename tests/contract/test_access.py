"""Access: every route of a real daemon against every credential."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar, asgi, get

from quarterdeck.api.app import routes_of
from quarterdeck.api.http.credentials import SCOPES
from quarterdeck.api.pages import static_files
from tests.support.access import (
    Page,
    as_token,
    decide_a_thousand,
    empty_api,
    every_route,
    expired_token,
    make_token,
    revoked_token,
)
from tests.support.daemon import PATIENCE_SECONDS, Daemon, permission, until
from tests.support.raw_http import JSON, Headers, bearer, send

ROUTES = every_route()
PAGES = [
    ("GET", "/"),
    ("GET", "/login?code=x"),
    ("GET", next(path for path in static_files() if path.endswith("/app.js"))),
    ("GET", "/style.css"),
    ("GET", "/healthz"),
    ("GET", "/icon.svg"),
]
REFUSED = {401, 429}
"""A wrong credential; the second when there were many in the last minute."""
SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("access") / "home") as running:
        yield running
        assert "Traceback" not in running.stderr()


@pytest.fixture(scope="module")
def page(daemon: Daemon) -> Page:
    return Page(daemon)


@pytest.fixture(scope="module")
def tokens(daemon: Daemon) -> dict[str, str]:
    """One token for each scope, with only that scope."""
    return {scope: make_token(daemon, scope)["token"] for scope in SCOPES}


def test_the_list_of_routes_is_complete() -> None:
    assert len(ROUTES) >= 14
    assert ("DELETE", "/api/v1/tokens/nothing", "admin") in ROUTES
    assert ("POST", "/api/v1/requests/nothing/decision", "approve") in ROUTES


@pytest.mark.law("A1")
def test_a_route_without_a_scope_keeps_the_daemon_from_starting() -> None:
    @get("/bare", sync_to_thread=False)
    def bare() -> None: ...

    @get("/odd", opt={"scope": "everything"}, sync_to_thread=False)
    def odd() -> None: ...

    @asgi("/mounted", opt={"scope": "observe"}, copy_scope=True)
    async def mounted(scope: Any, receive: Any, send: Any) -> None: ...

    for handler in (bare, odd, mounted):
        with pytest.raises(RuntimeError, match="declares no scope"):
            routes_of(Litestar([handler], openapi_config=None))
    assert routes_of(empty_api()).table


@pytest.mark.law("A15")
@pytest.mark.parametrize(("method", "path", "scope"), ROUTES)
def test_nothing_is_revealed_without_a_valid_credential(daemon: Daemon, method: str, path: str, scope: str) -> None:
    none: list[Headers] = [[], [("X-Token", daemon.token)], [("Cookie", f"token={daemon.token}")]]
    answers = [send(daemon.port, method, path, [JSON, *headers], b"not even JSON") for headers in none]
    answers.append(send(daemon.port, method, f"{path}?token={daemon.token}&access_token={daemon.token}", [JSON]))
    assert {(a.status, a.kind, a.body) for a in answers} == {(401, "unauthorized", answers[0].body)}
    wrong = [("Authorization", "Bearer x"), ("Authorization", f"Basic {daemon.token}")]
    wrong += [("Authorization", daemon.token), ("Cookie", f"quarterdeck_{daemon.port}={daemon.token}")]
    assert {send(daemon.port, method, path, [JSON, header], b"{}").status for header in wrong} <= REFUSED


@pytest.mark.law("A8")
def test_a_revoked_or_expired_token_is_refused(daemon: Daemon) -> None:
    for token in (revoked_token(daemon), expired_token(daemon), "wrong", daemon.token[:-1], daemon.token + "x"):
        answers = {as_token(daemon, token, method, path).status for method, path, _ in ROUTES}
        assert answers <= REFUSED


@pytest.mark.law("A9")
@pytest.mark.parametrize("held", SCOPES)
def test_a_token_allows_only_what_its_scope_names(daemon: Daemon, tokens: dict[str, str], held: str) -> None:
    for method, path, needed in ROUTES:
        if path.endswith("/logout"):
            continue
        answer = as_token(daemon, tokens[held], method, path)
        if held == needed:
            assert answer.status not in (401, 403), (method, path, answer)
        else:
            assert (answer.status, answer.kind, answer.json["error"]["scope"]) == (403, "forbidden", needed)


def test_the_hook_token_posts_hooks_and_nothing_else(daemon: Daemon) -> None:
    for method, path, needed in ROUTES:
        answer = as_token(daemon, daemon.hook_token, method, path)
        assert (answer.status == 403) is (needed != "ingest"), (method, path, answer)


@pytest.mark.law("A9")
def test_a_signed_in_page_may_do_everything_but_administer_and_post_hooks(daemon: Daemon, page: Page) -> None:
    for method, path, needed in ROUTES:
        if path.endswith("/logout"):
            continue
        answer = page.call(method, path, page.csrf, page.origin, JSON, body=b"{}" if method == "POST" else b"")
        closed = {"admin": 403, "ingest": 401}
        assert answer.status == closed[needed] if needed in closed else answer.status not in (401, 403)


def test_a_page_s_secret_is_not_a_bearer_token(daemon: Daemon, page: Page) -> None:
    answers = {path: as_token(daemon, page.secret, method, path).status for method, path, _ in ROUTES}
    assert answers.pop("/hook") == 403
    assert set(answers.values()) <= REFUSED


def hosts(port: int) -> list[str]:
    """Hosts that a page with a re-bound name, or a proxy, would send."""
    names = ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0", "127.1", "2130706433"]
    spelled = [f"{name}:{port}" for name in [*names, "127.0.0.1.", "localhost.", "[::ffff:127.0.0.1]", "[::]"]]
    odd = ["", "127.0.0.1", "localhost", f"127.0.0.1:{port}:80", f"127.0.0.1:{port}@evil.example", f":{port}"]
    return [*spelled, *odd, f"user@127.0.0.1:{port}", f"127.0.0.1:{port + 1}", f"127.0.0.1:0{port}"]


@pytest.mark.law("A4")
def test_only_the_daemon_s_own_host_names_are_served(daemon: Daemon, page: Page) -> None:
    own = bearer(daemon.token)
    for host in hosts(daemon.port):
        for method, path in [("GET", "/api/v1/sessions"), ("POST", "/hook"), *PAGES]:
            answer = send(daemon.port, method, path, [("Host", host), own, page.cookie])
            assert (answer.status, answer.kind) == (421, "foreign_host"), host
    for host in ("127.0.0.1", "LOCALHOST", "localhost", "[::1]"):
        assert send(daemon.port, "GET", "/api/v1/me", [("Host", f"{host}:{daemon.port}"), own]).status == 200


@pytest.mark.law("A4")
def test_only_the_daemon_s_own_pages_may_call(daemon: Daemon, page: Page) -> None:
    port, own = daemon.port, bearer(daemon.token)
    foreign = ["null", "https://evil.example", "http://127.0.0.1", f"https://127.0.0.1:{port}", "file://", ""]
    foreign += [f"http://127.0.0.1:{port + 1}", f"http://localhost.evil.example:{port}", f"http://127.0.0.1:{port}/"]
    for origin in foreign:
        for method, path in [("GET", "/api/v1/sessions"), ("POST", "/hook"), *PAGES]:
            answer = send(port, method, path, [("Origin", origin), own, page.cookie])
            assert (answer.status, answer.kind) == (403, "foreign_origin"), origin
    for origin in (f"http://127.0.0.1:{port}", f"http://localhost:{port}"):
        assert send(port, "GET", "/api/v1/me", [("Origin", origin), own]).status == 200


@pytest.mark.law("A4")
@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization"])
def test_a_header_that_decides_access_must_not_be_repeated(daemon: Daemon, name: str) -> None:
    own = {"Host": f"127.0.0.1:{daemon.port}", "Origin": daemon.url, "Authorization": f"Bearer {daemon.token}"}
    for second in (own[name], "evil.example"):
        for pair in ([(name, own[name]), (name, second)], [(name, second), (name.lower(), own[name])]):
            rest = [(key, value) for key, value in own.items() if key != name]
            for path in ("/api/v1/sessions", "/", "/hook"):
                assert send(daemon.port, "GET", path, [*rest, *pair]).status == 421


@pytest.mark.law("A6")
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_what_a_form_of_another_site_can_send_changes_nothing(daemon: Daemon, page: Page, kind: str) -> None:
    with_type = [("Content-Type", kind)] if kind else []
    for method, path, needed in ROUTES:
        if method != "POST" or needed == "ingest":
            continue
        for origin in (("Origin", "http://127.0.0.1:1"), ("Origin", "null")):
            assert page.call(method, path, origin, *with_type, body=b"{}").status == 403
        assert page.call(method, path, *with_type, body=b"{}").status == 403
        assert send(daemon.port, method, path, [bearer(daemon.token), *with_type], b"{}").status == 415


@pytest.mark.law("A6")
def test_a_page_sends_its_csrf_token_only_to_change_something(daemon: Daemon, page: Page) -> None:
    path = "/api/v1/requests/nothing/decision"
    body = b'{"decision":"deny","digest":"0"}'
    for proof in ([], [("X-CSRF-Token", "")], [("X-CSRF-Token", "0" * 32)], [("X-CSRF-Token", "é")]):
        answer = page.call("POST", path, *proof, page.origin, JSON, body=body)
        assert (answer.status, answer.kind) == (403, "csrf")
    other = Page(daemon)
    assert page.call("POST", path, other.csrf, page.origin, JSON, body=body).kind == "csrf"
    assert page.call("POST", path, page.csrf, page.origin, JSON, body=body).kind == "not_found"
    assert page.call("GET", "/api/v1/sessions").status == 200
    assert as_token(daemon, daemon.token, "POST", path, body).kind == "not_found"


def test_a_cookie_sent_by_a_page_of_another_port_is_ignored(page: Page) -> None:
    for site in ("same-site", "cross-site"):
        assert page.call("GET", "/api/v1/sessions", ("Sec-Fetch-Site", site)).status == 401
        proof = (page.csrf, JSON, ("Sec-Fetch-Site", site))
        assert page.call("POST", "/api/v1/logout", *proof, body=b"{}").status == 401
    for site in ("same-origin", "none"):
        assert page.call("GET", "/api/v1/sessions", ("Sec-Fetch-Site", site)).status == 200


@pytest.mark.law("A6")
def test_no_answer_ever_allows_another_origin(daemon: Daemon, page: Page) -> None:
    asks = [("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "authorization")]
    asks.append(("Access-Control-Request-Private-Network", "true"))
    for path in {path for _, path, _ in ROUTES} | {path for _, path in PAGES}:
        for origin in ("https://evil.example", "null", daemon.url):
            for method in ("OPTIONS", "GET"):
                plain = send(daemon.port, method, path, [("Origin", origin), *asks])
                signed_in = page.call(method, path, ("Origin", origin), *asks)
                names = {name for answer in (plain, signed_in) for name, _ in answer.headers}
                assert not {name for name in names if name.startswith("access-control-")}
            assert send(daemon.port, "OPTIONS", path, [("Origin", origin), *asks]).status in (401, 403, 405)


@pytest.mark.law("A5")
def test_a_page_s_cookie_is_for_this_port_and_no_script(daemon: Daemon, page: Page) -> None:
    name, *attributes = page.set_cookie.split("; ")
    assert name.startswith(f"quarterdeck_{daemon.port}=qdt_")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(attributes)
    assert not [a for a in attributes if a.startswith(("Domain", "Secure"))]
    other = ("Cookie", page.cookie[1].replace(str(daemon.port), str(daemon.port + 1)))
    assert send(daemon.port, "GET", "/api/v1/me", [other]).status == 401


def test_signing_out_deletes_the_cookie(daemon: Daemon) -> None:
    page = Page(daemon)
    answer = page.call("POST", "/api/v1/logout", page.csrf, page.origin, JSON, body=b"{}")
    assert answer.status == 200
    assert (answer.header("set-cookie") or "").startswith(f"quarterdeck_{daemon.port}=; HttpOnly")
    assert "Max-Age=0" in (answer.header("set-cookie") or "")
    assert page.call("GET", "/api/v1/me").status in REFUSED


ODD_METHODS = ["HEAD", "PUT", "PATCH", "TRACE", "OPTIONS", "DELETE", "POST", "GET", "PROPFIND"]


def odd_paths(path: str) -> list[str]:
    """Other spellings of a path, some of which lead to the same route."""
    last = path.rpartition("/")[2]
    encoded = path[: -len(last)] + "".join(f"%{ord(c):02x}" for c in last)
    doubled = path.replace("/api", "//api").replace("v1/", "v1//")
    return [path, path + "/", path + "//", "/" + path, doubled, encoded, path + "/.", f"/x/..{path}", path + ";x=1"]


@pytest.mark.law("A9")
@pytest.mark.parametrize(("method", "path", "scope"), [r for r in ROUTES if not r[1].endswith("logout")])
def test_no_spelling_of_a_path_or_method_gives_more_than_the_scope(
    daemon: Daemon, tokens: dict[str, str], method: str, path: str, scope: str
) -> None:
    smaller = tokens["observe" if scope != "observe" else "approve"]
    for spelled in odd_paths(path):
        for odd in ODD_METHODS:
            none = send(daemon.port, odd, spelled, [JSON], b"{}")
            some = as_token(daemon, smaller, odd, spelled)
            assert none.status in (400, 401), (odd, spelled, none)
            assert some.status >= 400 or odd in ("OPTIONS", "GET"), (odd, spelled, some)
            if odd == method:
                assert some.status in (400, 403, 404, 405), (odd, spelled, some)


@pytest.mark.law("A15")
def test_the_credential_comes_before_method_type_and_body(daemon: Daemon) -> None:
    wrong = [("PUT", "/api/v1/sessions", b""), ("POST", "/api/v1/sessions", b""), ("POST", "/healthz", b"")]
    wrong += [("POST", "/api/v1/requests/decisions", b"no"), ("PUT", "/hook", b"{"), ("DELETE", "/api/v1/me", b"")]
    for method, path, body in wrong:
        assert send(daemon.port, method, path, [("Content-Type", "text/x")], body).status == 401
        assert as_token(daemon, daemon.hook_token, method, path, body).status == (405 if path == "/hook" else 403)
        assert as_token(daemon, daemon.token, method, path, body).status in (400, 405, 415)


def test_every_error_has_the_one_shape(daemon: Daemon) -> None:
    calls = [("GET", "/api/v1/nowhere", b"", 404), ("PUT", "/api/v1/tokens", b"{}", 405), ("GET", "/x", b"", 404)]
    calls += [("POST", "/api/v1/tokens", b"{", 400), ("POST", "/api/v1/tokens", b"[]", 422)]
    calls += [("POST", "/api/v1/tokens", b'{"name":"n","scopes":["root"]}', 422), ("PUT", "/hook", b"", 405)]
    calls += [("GET", "/api/v1/feed?limit=x", b"", 422), ("DELETE", "/api/v1/tokens/nothing", b"", 404)]
    calls += [("POST", "/api/v1/tokens", b'{"a":1,"a":2}', 400), ("POST", "/", b"", 405), ("PUT", "/login", b"", 405)]
    calls += [("POST", "/api/v1/tokens", b'"' + b"x" * (11 << 20) + b'"', 413), ("POST", "/hook", b"{", 400)]
    for method, path, body, status in calls:
        answer = as_token(daemon, daemon.token, method, path, body)
        assert (answer.status, bool(answer.kind)) == (status, True), (method, path, answer)
        assert (answer.header("content-type") or "").startswith("application/json")


@pytest.mark.law("A13")
def test_every_response_has_the_security_headers(daemon: Daemon, page: Page) -> None:
    own = bearer(daemon.token)
    calls: list[tuple[str, str, Headers]] = [(method, path, [own, JSON]) for method, path, _ in ROUTES]
    calls += [(method, path, []) for method, path in PAGES] + [("HEAD", "/", []), ("OPTIONS", "/api/v1/me", [own])]
    calls += [("GET", "/api/v1/me", []), ("GET", "/api/v1/me", [("Host", "x")]), ("GET", "/", [("Origin", "null")])]
    calls += [("GET", "/", [("Host", "x")]), ("POST", "/hook", []), ("POST", "/login", []), ("HEAD", "/login", [])]
    for method, path, headers in calls:
        answer = send(daemon.port, method, path, headers)
        shown = dict(answer.headers)
        kept = {"cache-control": "public, max-age=31536000, immutable"} if path.startswith("/static/") else {}
        assert {k: shown.get(k) for k in SECURITY} == SECURITY | kept, (method, path, answer)
        policy = shown["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "server" not in shown
    assert page.answer.header("content-security-policy")


@pytest.mark.law("A10")
@pytest.mark.law("A12")
def test_wrong_credentials_are_slowed_down_and_the_right_one_never(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        page = Page(daemon)
        answers = [as_token(daemon, "qdt_guess", "GET", "/api/v1/me") for _ in range(120)]
        assert [a.status for a in answers] == [401] * 100 + [429] * 20
        assert (answers[-1].kind, answers[-1].header("retry-after")) == ("too_many_failures", "60")
        assert answers[-1].header("x-content-type-options") == "nosniff"
        assert send(daemon.port, "GET", "/login?code=guess").status == 429
        assert as_token(daemon, "qdt_guess", "POST", "/hook").status == 429
        assert send(daemon.port, "GET", "/api/v1/me").status == 401
        assert as_token(daemon, daemon.token, "GET", "/api/v1/me").status == 200
        assert page.call("GET", "/api/v1/me").status == 200
        assert daemon.hook({"session_id": "s", "hook_event_name": "Stop"})[0] == 204
        assert Page(daemon).call("GET", "/api/v1/me").status == 200


@pytest.mark.law("A10")
def test_decisions_have_a_rate_limit_for_each_credential(daemon: Daemon) -> None:
    one, other = (make_token(daemon, "approve", "observe")["token"] for _ in range(2))
    with ThreadPoolExecutor(80) as pool:  # at once, as a slow machine earns new decisions while it works on the first
        answers = list(pool.map(lambda _: decide_a_thousand(daemon, one), range(80)))
    refused = [answer for answer in answers if answer.status != 200]
    assert 1 <= len(refused) <= 60
    assert {(answer.status, answer.kind) for answer in refused} == {(429, "too_fast")}
    assert decide_a_thousand(daemon, other).status == 200
    assert as_token(daemon, one, "GET", "/api/v1/requests").status == 200


@pytest.mark.law("A14")
def test_a_link_signs_in_once(daemon: Daemon) -> None:
    _, made = daemon.api("POST", "/login-codes", {})
    where = "/login" + made["url"].partition("/login")[2]
    assert made["url"].startswith(f"http://127.0.0.1:{daemon.port}/login?code=")
    assert send(daemon.port, "HEAD", where).status in REFUSED
    assert send(daemon.port, "POST", where, [JSON], b"{}").status == 405
    answer = send(daemon.port, "GET", where)
    assert (answer.status, answer.header("location")) == (303, "/")
    assert send(daemon.port, "GET", where).status in REFUSED
    assert send(daemon.port, "GET", where.replace("code=", "code=x")).status in REFUSED


def test_only_an_administrator_creates_credentials(daemon: Daemon, tokens: dict[str, str]) -> None:
    body = b'{"name":"more","scopes":["approve"]}'
    for held, token in tokens.items():
        status = as_token(daemon, token, "POST", "/api/v1/tokens", body).status
        assert status == (201 if held == "admin" else 403)


@pytest.mark.law("A8")
@pytest.mark.law("A12")
def test_a_secret_is_shown_once_and_kept_nowhere(daemon: Daemon, page: Page) -> None:
    made = make_token(daemon, "observe")
    held = daemon.hold(permission("ls", "secretive"))
    as_token(daemon, made["token"], "GET", "/api/v1/feed?token=" + made["token"])
    as_token(daemon, made["token"], "GET", "/api/v1/%00" + made["token"][:5])
    held.close()
    read = b"".join(
        as_token(daemon, daemon.token, "GET", path).body
        for path in ("/api/v1/tokens", "/api/v1/feed?limit=1000", "/api/v1/sessions", "/api/v1/openapi.json")
    )
    files = b"".join(
        path.read_bytes() for path in daemon.home.rglob("*") if path.is_file() and "token" not in path.name
    )
    for secret in (made["token"], page.secret, daemon.token, daemon.hook_token):
        assert secret.encode() not in read + files
        assert secret not in daemon.stderr() + daemon.stdout()
    shown = as_token(daemon, daemon.token, "GET", "/api/v1/feed?kind=token.create&limit=1000").json["events"]
    assert shown
    assert not [event for event in shown if event["data"].get("verifier")]


def test_a_rotated_owner_s_token_works_without_a_restart(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        old, new = daemon.token, "n" * 43
        (daemon.home / "token").write_text(new)
        until(lambda: as_token(daemon, new, "GET", "/api/v1/me").status == 200, every=0.1)
        assert as_token(daemon, old, "GET", "/api/v1/me").status == 401


@pytest.mark.law("E9")
def test_a_connection_that_sends_nothing_or_never_ends_is_dropped(daemon: Daemon) -> None:
    with ExitStack() as open_ones:
        where = ("127.0.0.1", daemon.port)
        silent = [open_ones.enter_context(socket.create_connection(where, timeout=PATIENCE_SECONDS)) for _ in range(2)]
        silent[1].sendall(b"GET /healthz HTTP/1.1\r\nHost: 127")
        for connection in silent:
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""
