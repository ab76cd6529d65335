"""Every operation of the API: its name, scope, title and REST route. Plain data, so that every surface can read it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

REST_ONLY = frozenset({"decide_many", "create_login_code", "create_pairing_code", "pair_device", "logout"})
"""Changes that are no command of the WebSocket: one is for several commands in one call, the others are about HTTP."""


OF_NO_MACHINE = frozenset(
    {
        *("healthz", "get_metrics", "create_login_code", "create_pairing_code", "pair_device", "whoami", "logout"),
        *("enroll_runner", "expel_runner"),
    }
)
"""Operations about the daemon or hub that is called, or about the caller."""


class Operation(Struct, frozen=True):
    """One thing that a client can do. One without a path is only a command of the WebSocket; `reads` marks a POST that
    changes nothing."""

    name: str
    scope: str
    method: str
    path: str
    title: str
    status: int = 200
    reads: bool = False

    @property
    def is_command(self) -> bool:
        """True when it is also a command of the WebSocket: everything that changes something."""
        return self.method != "GET" and not self.reads and self.name not in REST_ONLY

    @property
    def is_list(self) -> bool:
        """True when it returns resources of one kind, which `runner_id` narrows to one machine."""
        return self.method == "GET" and (self.name.startswith("list_") or self.name == "get_feed")

    @property
    def is_of_one_machine(self) -> bool:
        """True when `runner_id` names the machine that is meant: an id alone may be that of several."""
        return not self.is_list and self.name not in OF_NO_MACHINE


_ROWS = (
    Operation("healthz", "none", "GET", "/healthz", "Show the daemon's health"),
    Operation("get_metrics", "observe", "GET", "/metrics", "Show the numbers for Prometheus"),
    Operation("get_health", "observe", "GET", "/health", "Show what is wrong with the daemon, and how to fix it"),
    Operation("list_settings", "observe", "GET", "/settings", "List the settings in force"),
    Operation("get_stats", "observe", "GET", "/stats", "Show numbers about the daemon"),
    Operation("get_series", "observe", "GET", "/stats/series", "Show counts over time"),
    Operation("list_audit", "observe", "GET", "/audit", "List the audit"),
    Operation("get_feed", "observe", "GET", "/feed", "List events"),
    Operation("get_event", "observe", "GET", "/events/{event_id}", "Show an event with its causes and raw payload"),
    # machines and surfaces
    Operation("list_runners", "observe", "GET", "/runners", "List machines"),
    Operation("list_clients", "observe", "GET", "/clients", "List connected surfaces"),
    Operation(
        "command_client", "control", "POST", "/clients/{client_id}/commands", "Send a command to a connected surface"
    ),
    # sessions
    Operation("list_sessions", "observe", "GET", "/sessions", "List sessions"),
    Operation("get_session", "observe", "GET", "/sessions/{session_id}", "Show a session"),
    Operation("list_runs", "observe", "GET", "/sessions/{session_id}/runs", "List the runs of a session"),
    Operation("list_actors", "observe", "GET", "/sessions/{session_id}/actors", "List who acted in a session"),
    Operation("start_session", "control", "POST", "/sessions", "Start a session", 201),
    Operation("send_message", "prompt", "POST", "/sessions/{session_id}/messages", "Send a prompt", 202),
    Operation("interrupt_session", "control", "POST", "/sessions/{session_id}/interrupt", "Interrupt a session", 202),
    Operation("end_session", "control", "POST", "/sessions/{session_id}/end", "End a session", 202),
    Operation("interrupt_sessions", "control", "POST", "/sessions/interrupt", "Interrupt several sessions, or all"),
    Operation("end_sessions", "control", "POST", "/sessions/end", "End several sessions, or all"),
    Operation("change_mode", "control", "POST", "/sessions/{session_id}/mode", "Change the mode of a session", 202),
    Operation("fork_session", "control", "POST", "/sessions/{session_id}/fork", "Fork a session", 202),
    Operation("takeover_session", "control", "POST", "/sessions/{session_id}/takeover", "Take over a session", 202),
    Operation("get_screen", "observe", "GET", "/sessions/{session_id}/screen", "Show a session's terminal"),
    Operation("terminal_input", "control", "", "", "Type into a terminal"),
    Operation("terminal_resize", "observe", "", "", "Set the size of a terminal"),
    # worktrees
    Operation("list_worktrees", "observe", "GET", "/worktrees", "List worktrees"),
    Operation("get_diff", "observe", "GET", "/worktrees/{session_id}/diff", "Show the changes of a worktree"),
    Operation("merge_worktree", "control", "POST", "/worktrees/{session_id}/merge", "Merge a worktree"),
    Operation("discard_worktree", "control", "DELETE", "/worktrees/{session_id}", "Remove a worktree"),
    # requests
    Operation("list_requests", "observe", "GET", "/requests", "List requests"),
    Operation("get_request", "observe", "GET", "/requests/{request_id}", "Show a request"),
    Operation("decide", "approve", "POST", "/requests/{request_id}/decision", "Decide a request"),
    Operation("decide_many", "approve", "POST", "/requests/decisions", "Decide several requests"),
    # the key deck
    Operation("get_deck", "observe", "GET", "/deck", "Show the key deck"),
    Operation("keypad_press", "approve", "", "", "Press a key of the deck"),
    Operation("dialpad_button_press", "approve", "", "", "Press Enter, Esc, Ctrl-C or Export on the deck"),
    Operation("adjustment", "approve", "", "", "Turn the dial or the roller of the deck"),
    Operation("page_nav", "approve", "", "", "Turn the page of the deck"),
    Operation("terminals_snapshot", "control", "", "", "Report the terminals of an editor"),
    # rules
    Operation("list_rules", "observe", "GET", "/rules", "List rules"),
    Operation("add_rule", "control", "POST", "/rules", "Create a rule", 201),
    Operation("import_rules", "control", "POST", "/rules/import", "Import rules", 201),
    Operation("remove_rule", "control", "DELETE", "/rules/{rule_id}", "Remove a rule"),
    Operation("simulate_rule", "observe", "POST", "/rules/simulate", "Try a rule on past requests", reads=True),
    Operation("suggest_rules", "observe", "GET", "/rules/suggestions", "Suggest rules"),
    Operation("explain_verdict", "observe", "POST", "/rules/explain", "Explain a verdict", reads=True),
    # projects
    Operation("list_projects", "observe", "GET", "/projects", "List projects"),
    Operation("get_project_config", "control", "GET", "/projects/brings", "Show a project's own config"),
    Operation("get_scan", "observe", "GET", "/projects/scan", "Show the progress of the project scan"),
    Operation("scan_projects", "control", "POST", "/projects/scan", "Scan for projects"),
    Operation("trust_project", "control", "POST", "/projects/trust", "Trust a folder"),
    Operation("untrust_project", "control", "POST", "/projects/untrust", "Stop trusting a folder"),
    # plugins and MCP servers
    Operation("list_plugins", "observe", "GET", "/plugins", "List installed plugins"),
    Operation("list_offers", "observe", "GET", "/plugins/available", "List plugins to install"),
    Operation("install_plugin", "control", "POST", "/plugins/install", "Install a plugin"),
    Operation("enable_plugin", "control", "POST", "/plugins/enable", "Enable a plugin"),
    Operation("disable_plugin", "control", "POST", "/plugins/disable", "Disable a plugin"),
    Operation("update_plugin", "control", "POST", "/plugins/update", "Update a plugin"),
    Operation("uninstall_plugin", "control", "POST", "/plugins/uninstall", "Uninstall a plugin"),
    Operation("list_marketplaces", "observe", "GET", "/plugins/marketplaces", "List marketplaces"),
    Operation("add_marketplace", "control", "POST", "/plugins/marketplaces", "Add a marketplace", 201),
    Operation("update_marketplaces", "control", "POST", "/plugins/marketplaces/update", "Update marketplaces"),
    Operation("remove_marketplace", "control", "DELETE", "/plugins/marketplaces/{name}", "Remove a marketplace"),
    Operation("list_servers", "observe", "GET", "/mcp", "List MCP servers"),
    Operation("get_servers", "observe", "GET", "/mcp/{name}", "List MCP servers with a name"),
    Operation("add_server", "control", "POST", "/mcp", "Add an MCP server", 201),
    Operation("check_servers", "control", "POST", "/mcp/check", "Check MCP servers"),
    Operation("remove_server", "control", "DELETE", "/mcp/{name}", "Remove an MCP server"),
    # access
    Operation("list_tokens", "admin", "GET", "/tokens", "List tokens"),
    Operation("create_token", "admin", "POST", "/tokens", "Create a token", 201),
    Operation("revoke_token", "admin", "DELETE", "/tokens/{token_id}", "Revoke a token"),
    Operation("create_login_code", "admin", "POST", "/login-codes", "Create a sign-in link", 201),
    Operation("create_pairing_code", "admin", "POST", "/pairing-codes", "Create a pairing code", 201),
    Operation("pair_device", "none", "POST", "/pair", "Sign in a device", 201),
    Operation("list_devices", "observe", "GET", "/devices", "List signed-in devices"),
    Operation("revoke_device", "control", "DELETE", "/devices/{device_id}", "Sign out a device"),
    Operation("ask_step_up", "observe", "POST", "/me/step-up", "Ask for more rights"),
    Operation("confirm_step_up", "admin", "POST", "/devices/{device_id}/step-up", "Give a device more rights"),
    Operation("whoami", "observe", "GET", "/me", "Show the caller"),
    Operation("logout", "observe", "POST", "/logout", "Sign out"),
)
OPERATIONS: Mapping[str, Operation] = {row.name: row for row in _ROWS}
HUB_OPERATIONS: Mapping[str, Operation] = {
    row.name: row
    for row in (
        Operation("enroll_runner", "admin", "POST", "/runners", "Enrol a machine", 201),
        Operation("expel_runner", "admin", "DELETE", "/runners/{machine_id}", "Expel a machine"),
    )
}
"""Operations that only a hub has."""
