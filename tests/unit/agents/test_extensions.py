"""What Claude Code says of plugins and MCP servers, read from its own recorded words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.agents.claude.extensions import (
    add_server,
    read_folders,
    read_health,
    read_marketplaces,
    read_offers,
    read_plugins,
    read_project_servers,
    read_servers,
)
from quarterdeck.core.workspace.extensions import Health, Marketplace, NewServer, Offer, Plugin, without_secrets

RECORDINGS = Path(__file__).parents[2] / "recordings" / "claude-code-cli"
VERSIONS = ("2.1.197", "2.1.325")
BUILT_IN = Marketplace(name="anthropic-plugin-directory", source="Built in (Anthropic Directory)")


def said(version: str, name: str) -> str:
    return (RECORDINGS / version / f"{name}.stdout").read_text()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("name", "enabled"), [("plugin_list", True), ("plugin_list_disabled", False)])
def test_json_and_text_say_the_same_of_plugins(version: str, name: str, enabled: bool) -> None:
    expected = Plugin(plugin_id="demo@lab-market", version="0.1.0", enabled=enabled, scope="user")
    for found in (read_plugins(said(version, f"{name}_json")), read_plugins(said(version, name))):
        assert found is not None
        assert [replace(one, folder=None) for one in found] == [expected]


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_installed_is_an_empty_list(version: str) -> None:
    assert read_plugins(said(version, "plugin_list_empty_json")) == []
    assert read_plugins(said(version, "plugin_list_empty")) == []
    assert read_marketplaces(said(version, "mkt_list_empty_json")) == []
    assert read_health(said(version, "mcp_list_empty")) == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_marketplaces_and_what_they_offer(version: str) -> None:
    market = Marketplace(name="lab-market", source="directory", location="/home/dev/market")
    assert read_marketplaces(said(version, "mkt_list_json")) == [market]
    offer = Offer(plugin_id="demo@lab-market", description="Demo plugin with hooks", version="0.1.0")
    assert read_offers(said(version, "plugin_available_json")) == [offer]


def test_marketplaces_are_read_from_text_where_there_is_no_json() -> None:
    assert read_marketplaces(said("2.1.197", "mkt_list_empty")) == []
    assert read_marketplaces(said("2.1.325", "mkt_list")) == [
        BUILT_IN,
        Marketplace(name="lab-market", source="Folder (/home/dev/market)"),
    ]


def test_what_is_neither_is_not_guessed() -> None:
    assert read_plugins("Something new:\n  ❯ demo@lab-market\n") is None
    assert read_plugins('{"plugins": []}') is None
    assert read_marketplaces("") is None
    assert read_offers("[]") == []


def test_how_servers_did() -> None:
    assert read_health(said("2.1.197", "mcp_list")) == {
        "userv": Health(status="failed", error="Failed to connect"),
        "pserv": Health(status="pending", error="Pending approval (run `claude` to approve)"),
        "echo-srv": Health(status="failed", error="Failed to connect"),
        "web": Health(status="failed", error="Failed to connect"),
        "js": Health(status="failed", error="Failed to connect"),
    }
    assert read_health(said("2.1.325", "mcp_list"))["echo-srv"].error == "-32601: Method not found"
    assert read_health("a: b - c - ✔ Connected") == {"a": Health(status="connected")}
    assert read_health("a: https://h (HTTP) - ! Needs authentication")["a"].status == "needs_auth"


def test_servers_are_read_from_the_configuration_without_their_secrets() -> None:
    stdio = {"command": "srv", "args": ["--api-key", "T0KEN", "--token=T0KEN", "-v"], "env": {"KEY": "T0KEN"}}
    web = {"type": "http", "url": "https://u:T0KEN@h/mcp?key=T0KEN", "headers": {"Authorization": "Bearer T0KEN"}}
    state = {"mcpServers": {"a": stdio}, "projects": {"/p": {"mcpServers": {"b": web}}, "/q": 5}}
    found = [*read_servers(state), *read_project_servers({"mcpServers": {"c": {"type": "sse", "url": "x"}}}, "/p")]
    assert [(s.name, s.transport, s.scope, s.project) for s in found] == [
        ("a", "stdio", "user", None),
        ("b", "http", "local", "/p"),
        ("c", "sse", "project", "/p"),
    ]
    assert "T0KEN" not in str(found)
    assert found[0].config["args"] == ["--api-key", "•••", "--token=•••", "-v"]
    assert found[1].config == {"url": "https://h/mcp", "headers": {"Authorization": "•••"}}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["mcpServers", "projects", "a", "args", "env", "command"]), inner, max_size=4)
    ),
)


@given(json_values)
def test_any_file_is_read(value: object) -> None:
    list(read_servers(value))
    read_folders(value)
    list(read_project_servers(value, "/p"))


@given(st.text())
def test_any_words_are_read(text: str) -> None:
    read_plugins(text)
    read_marketplaces(text)
    read_offers(text)
    read_health(text)


def test_what_takes_several_values_comes_after_the_name() -> None:
    stdio = NewServer(name="s", transport="stdio", scope="user", target="cat", args=["-n"], env={"A": "-b", "C": "d"})
    words = "mcp add --scope user --transport stdio s --env A=-b --env C=d -- cat -n"
    assert add_server(stdio) == words.split()
    web = NewServer(name="w", transport="sse", scope="local", target="http://h", headers={"X-A": "b c"})
    assert add_server(web)[5:] == ["sse", "w", "http://h", "--header", "X-A: b c"]


@pytest.mark.law("A12")
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--password", "hunter2"], ["--password", "•••"]),
        (["API_KEY=hunter2", "x"], ["API_KEY=•••", "x"]),
        (["sk-ant-0123456789"], ["•••"]),
        (["--token", "--verbose"], ["--token", "--verbose"]),
        (["keyboard", "layout"], ["keyboard", "layout"]),
    ],
)
def test_words_that_look_like_secrets_are_hidden(words: list[str], shown: list[str]) -> None:
    assert without_secrets(words) == shown
