"""Plugins and MCP servers, read from recorded output of Claude Code."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.agents.claude.extensions import (
    add_server,
    login_command,
    read_folders,
    read_health,
    read_marketplaces,
    read_offers,
    read_plugins,
    read_project_servers,
    read_servers,
)
from quarterdeck.core.workspace.extensions import (
    Marketplace,
    NewMcpServer,
    Plugin,
    PluginOffer,
    ServerHealth,
    redact_args,
)

RECORDINGS = Path(__file__).parents[3] / "recordings" / "claude-code-cli"
VERSIONS = ("2.1.197", "2.1.325")
BUILT_IN = Marketplace(name="anthropic-plugin-directory", source="Built in (Anthropic Directory)")


def recorded(version: str, name: str) -> str:
    return (RECORDINGS / version / f"{name}.stdout").read_text()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("name", "enabled"), [("plugin_list", True), ("plugin_list_disabled", False)])
def test_json_and_text_say_the_same_of_plugins(version: str, name: str, enabled: bool) -> None:
    expected = Plugin(plugin_id="demo@lab-market", version="0.1.0", enabled=enabled, scope="user")
    for found in (read_plugins(recorded(version, f"{name}_json")), read_plugins(recorded(version, name))):
        assert found is not None
        assert [replace(one, folder=None) for one in found] == [expected]


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_installed_is_an_empty_list(version: str) -> None:
    assert read_plugins(recorded(version, "plugin_list_empty_json")) == []
    assert read_plugins(recorded(version, "plugin_list_empty")) == []
    assert read_marketplaces(recorded(version, "mkt_list_empty_json")) == []
    assert read_health(recorded(version, "mcp_list_empty")) == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_marketplaces_and_their_offers_are_read(version: str) -> None:
    market = Marketplace(name="lab-market", source="directory", location="/home/dev/market")
    assert read_marketplaces(recorded(version, "mkt_list_json")) == [market]
    offer = PluginOffer(plugin_id="demo@lab-market", description="Demo plugin with hooks", version="0.1.0")
    assert read_offers(recorded(version, "plugin_available_json")) == [offer]


def test_marketplaces_are_read_from_text_where_there_is_no_json() -> None:
    assert read_marketplaces(recorded("2.1.197", "mkt_list_empty")) == []
    assert read_marketplaces(recorded("2.1.325", "mkt_list")) == [
        BUILT_IN,
        Marketplace(name="lab-market", source="Folder (/home/dev/market)"),
    ]


def test_output_of_an_unknown_form_is_not_guessed() -> None:
    assert read_plugins("Something new:\n  ❯ demo@lab-market\n") is None
    assert read_plugins('{"plugins": []}') is None
    assert read_marketplaces("") is None
    assert read_offers("[]") == []


def test_the_health_of_servers_is_read() -> None:
    assert read_health(recorded("2.1.197", "mcp_list")) == {
        "userv": ServerHealth(status="failed", error="Failed to connect"),
        "pserv": ServerHealth(status="pending", error="Pending approval (run `claude` to approve)"),
        "echo-srv": ServerHealth(status="failed", error="Failed to connect"),
        "web": ServerHealth(status="failed", error="Failed to connect"),
        "js": ServerHealth(status="failed", error="Failed to connect"),
    }
    assert read_health(recorded("2.1.325", "mcp_list"))["echo-srv"].error == "-32601: Method not found"
    assert read_health("a: b - c - ✔ Connected") == {"a": ServerHealth(status="connected")}
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
def test_any_json_value_can_be_read(value: object) -> None:
    list(read_servers(value))
    read_folders(value)
    list(read_project_servers(value, "/p"))


@given(st.text())
def test_any_output_can_be_read(text: str) -> None:
    read_plugins(text)
    read_marketplaces(text)
    read_offers(text)
    read_health(text)


def test_options_with_several_values_come_after_the_name() -> None:
    stdio = NewMcpServer(
        name="s", transport="stdio", scope="user", target="cat", args=["-n"], env={"A": "-b", "C": "d"}
    )
    words = "mcp add --scope user --transport stdio s --env A=-b --env C=d -- cat -n"
    assert add_server(stdio) == words.split()
    web = NewMcpServer(name="w", transport="sse", scope="local", target="http://h", headers={"X-A": "b c"})
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
    assert redact_args(words) == shown


def test_a_name_that_would_be_an_option_has_no_command_to_sign_in() -> None:
    assert login_command("mail") == "claude mcp login --no-browser mail"
    assert login_command("--scope") is None
