"""Claude Code connected and disconnected, with the real CLI and its real files."""

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quarterdeck.agents.base import Transport
from quarterdeck.agents.claude.hook_setup import PLUGIN_ID
from quarterdeck.daemon.setup.home_files import Home
from quarterdeck.drivers.base import InstallScope
from quarterdeck.errors import QuarterdeckError
from tests.support.claude import ClaudeHome, require
from tests.support.install import FOREIGN, ORIGINAL, TOKEN, Bench, mode, tree
from tests.support.model_server import ModelServer, Turn, text

pytestmark = pytest.mark.e2e


@pytest.fixture(params=["2.1.325", "2.1.197"])
def bench(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    claude = ClaudeHome(tmp_path, cli=require(request.param), model_url="http://127.0.0.1:9")
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in claude.env.items():
        monkeypatch.setenv(name, value)
    return Bench(claude)


@pytest.fixture
def latest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The newest version, for tests that do not depend on the version."""
    claude = ClaudeHome(tmp_path, cli=require("2.1.325"), model_url="http://127.0.0.1:9")
    monkeypatch.setenv("HOME", str(claude.path))
    monkeypatch.setenv("PATH", claude.env["PATH"])
    return Bench(claude)


def test_the_plugin_is_installed_and_removed_and_leaves_the_settings_byte_for_byte(bench: Bench) -> None:
    bench.file.write_bytes(ORIGINAL)
    bench.file.chmod(0o640)
    report = bench.install()
    assert report.changed
    assert report.warnings == ()
    (plugin,) = bench.plugins()
    assert plugin["enabled"]
    assert "errors" not in plugin
    assert [c.transport for c in bench.state().connections] == [Transport.PLUGIN]
    assert bench.state().problems == ()
    assert bench.uninstall().changed
    assert bench.file.read_bytes() == ORIGINAL
    assert mode(bench.file) == 0o640
    assert bench.plugins() == []
    assert bench.state().connections == ()


def test_a_second_install_changes_nothing_and_says_so(bench: Bench) -> None:
    bench.install()
    before = tree(bench.home) | tree(bench.claude.config / "plugins") | {"settings": bench.file.read_bytes()}
    report = bench.install()
    assert not report.changed
    assert "already connected" in report.lines[0]
    assert tree(bench.home) | tree(bench.claude.config / "plugins") | {"settings": bench.file.read_bytes()} == before


def test_the_plugin_holds_no_token(bench: Bench) -> None:
    bench.install(enforce=True)
    assert bench.secrets() == []


def test_nobody_else_can_read_the_token_and_uninstalling_leaves_it_nowhere(bench: Bench) -> None:
    bench.install(transport=Transport.HTTP)
    found = bench.secrets()
    assert bench.file in found
    assert {mode(path) for path in found} == {0o600}
    report = bench.uninstall()
    assert bench.secrets() == []
    assert report.token_rotated
    assert (bench.home / "hook-token").read_text() != TOKEN
    assert len((bench.home / "hook-token").read_text()) >= 43
    assert mode(bench.home / "hook-token") == 0o600


def test_a_new_port_and_token_take_the_place_of_the_old(bench: Bench) -> None:
    bench.install(transport=Transport.HTTP)
    moved: dict[str, Any] = {"token": "another-token-" * 3, "url": "http://127.0.0.1:4999"}
    assert len(bench.state(**moved).problems) == 2
    assert bench.install(transport=Transport.HTTP, endpoint=bench.endpoint(**moved)).changed
    assert bench.state(**moved).problems == ()
    assert bench.secrets() == []


def test_the_gate_is_shown_moved_and_removed(bench: Bench) -> None:
    bench.file.write_bytes(ORIGINAL)
    bench.install()
    assert bench.state().gates == ()
    assert bench.install(enforce=True).changed
    assert not bench.install(enforce=True).changed
    (gate,) = bench.state().gates
    assert (gate.file, gate.problems) == (bench.file, ())
    (plugin,) = bench.plugins()
    assert plugin["enabled"]
    elsewhere = msgspec.structs.replace(bench.endpoint(), hook_file="/nowhere/hook.py")
    bench.install(enforce=True, endpoint=elsewhere)
    assert "/nowhere/hook.py, which is missing: no tool runs" in bench.state().gates[0].problems[0]
    assert bench.state().fix == "qd install --enforce"
    assert bench.install(enforce=True).changed
    assert bench.state().problems == ()
    assert bench.install().changed
    assert bench.state().gates == ()
    bench.install(enforce=True)
    assert bench.uninstall().changed
    assert bench.file.read_bytes() == ORIGINAL


@pytest.mark.law("D19")
@pytest.mark.parametrize("name", ["hook.py", "forwarder.py"])
def test_a_gate_without_one_of_its_files_is_shown(latest: Bench, name: str) -> None:
    home = Home(latest.home)
    home.keep_forwarder()
    latest.install(enforce=True, endpoint=msgspec.structs.replace(latest.endpoint(), hook_file=str(home.hook)))
    assert latest.state().problems == ()
    (latest.home / name).unlink()
    assert f"{latest.home / name}, which is missing: no tool runs" in latest.state().gates[0].problems[0]


@pytest.mark.law("D19")
def test_a_gate_that_outlives_the_plugin_is_shown_and_removed(latest: Bench) -> None:
    latest.file.write_bytes(ORIGINAL)
    latest.install(enforce=True)
    latest.run("plugin", "uninstall", PLUGIN_ID)
    latest.run("plugin", "marketplace", "remove", "quarterdeck")
    (gate,) = latest.state().gates
    assert "without the hooks that report sessions" in gate.problems[0]
    assert latest.uninstall().changed
    assert latest.state().gates == ()
    assert "hooks" not in latest.claude.read_settings()


def test_a_disabled_plugin_is_reported_and_enabled_again(latest: Bench) -> None:
    latest.install()
    latest.run("plugin", "disable", PLUGIN_ID)
    assert "disabled" in latest.state().problems[0]
    assert latest.install().changed
    assert latest.state().problems == ()


def test_a_project_is_connected_through_its_local_settings_only(bench: Bench) -> None:
    bench.install(scope=InstallScope.PROJECT, project=bench.claude.project)
    assert [entry["scope"] for entry in bench.plugins()] == ["local"]
    assert not bench.file.exists()
    (connection,) = bench.state().connections
    assert (connection.project, connection.problems) == (bench.claude.project, ())
    assert not bench.install(scope=InstallScope.PROJECT, project=bench.claude.project).changed
    bench.uninstall(scope=InstallScope.PROJECT, project=bench.claude.project)
    assert list(bench.claude.project.iterdir()) == []
    assert bench.secrets() == []


def test_without_any_cli_the_plugin_can_still_be_removed(bench: Bench) -> None:
    bench.file.write_bytes(ORIGINAL)
    bench.install()
    assert bench.uninstall(claude_path="/nowhere/claude").changed
    assert bench.file.read_bytes() == ORIGINAL
    assert bench.plugins() == []
    assert bench.secrets() == []
    assert "quarterdeck" not in (bench.claude.config / "plugins" / "known_marketplaces.json").read_text()


def test_settings_changed_since_keep_the_change(latest: Bench) -> None:
    latest.file.write_bytes(ORIGINAL)
    latest.install()
    latest.claude.write_settings({**latest.claude.read_settings(), "theme": "light"})
    latest.uninstall()
    assert latest.claude.read_settings() == {**json.loads(ORIGINAL), "theme": "light"}


@pytest.mark.parametrize("transport", [Transport.HTTP, Transport.COMMAND])
def test_settings_hooks_coexist_with_others_and_are_removed_without_a_trace(
    latest: Bench, transport: Transport
) -> None:
    original = json.dumps(FOREIGN, indent=3).encode() + b"\n\n"
    latest.file.write_bytes(original)
    latest.file.chmod(0o644)
    assert latest.install(transport=transport).changed
    settings = latest.claude.read_settings()
    assert settings["hooks"]["Stop"][0] == FOREIGN["hooks"]["Stop"][0]
    assert settings["hooks"]["PreToolUse"][0] == FOREIGN["hooks"]["PreToolUse"][0]
    assert all(mode(path) == 0o600 for path in latest.secrets())
    assert latest.state().problems == ()
    assert not latest.install(transport=transport).changed
    latest.uninstall()
    assert latest.file.read_bytes() == original
    assert mode(latest.file) == 0o644


def test_changing_the_transport_never_leaves_two(latest: Bench) -> None:
    latest.file.write_bytes(ORIGINAL)
    for transport in (Transport.PLUGIN, Transport.HTTP, Transport.COMMAND, Transport.PLUGIN):
        latest.install(transport=transport)
        assert [c.transport for c in latest.state().connections] == [transport]
        assert len(latest.plugins()) == (transport is Transport.PLUGIN)
    latest.uninstall()
    assert latest.file.read_bytes() == ORIGINAL


def test_the_users_place_takes_over_from_a_project_and_a_project_cannot_double_it(latest: Bench) -> None:
    latest.install(transport=Transport.HTTP, scope=InstallScope.PROJECT, project=latest.claude.project)
    latest.install()
    assert [c.scope for c in latest.state().connections] == [InstallScope.USER]
    with pytest.raises(QuarterdeckError, match="run qd uninstall first"):
        latest.install(scope=InstallScope.PROJECT, project=latest.claude.project)


@pytest.fixture
def posted() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A URL and what is posted to it: each event with the headers that matter."""
    posts: list[dict[str, str]] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            posts.append({"event": body["hook_event_name"], **{k.lower(): v for k, v in self.headers.items()}})
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", posts
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_session_reports_with_token_tag_and_entrypoint(
    bench: Bench, posted: tuple[str, list[dict[str, str]]]
) -> None:
    url, posts = posted
    bench.install(transport=Transport.HTTP, endpoint=bench.endpoint(url=url))
    with ModelServer({"say hello": [Turn(text("hello there"))]}) as model:
        bench.claude.model_url = model.url
        bench.claude.extra_env["QUARTERDECK_TAG"] = "desk-7"
        assert bench.claude.run_headless("say hello").text == "hello there"
    assert {"UserPromptSubmit", "Stop", "SessionEnd"} <= {post["event"] for post in posts}
    sent = ("authorization", "x-quarterdeck-tag", "x-quarterdeck-entrypoint")
    assert {tuple(post[name] for name in sent) for post in posts} == {(f"Bearer {TOKEN}", "desk-7", "sdk-cli")}
