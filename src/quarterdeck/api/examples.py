"""One example of every operation; a test holds each against its schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quarterdeck.api.session_examples import SESSION, SESSION_EXAMPLES

EVENT: dict[str, Any] = {
    "seq_no": 17,
    "event_id": "5bcc959a-d2e0-4b84-99d9-a702456ddf08:R1:E5",
    "seq": 5,
    "run_id": "5bcc959a-d2e0-4b84-99d9-a702456ddf08:R1",
    "session_id": "5bcc959a-d2e0-4b84-99d9-a702456ddf08",
    "runner_id": "otter-1a2b3c4d",
    "at": 1791000042.5,
    "kind": "tool.pre",
    "level": "info",
    "actor_id": "agent:root",
    "cause": {"hook_request_id": "h3fa4b2c1d0ef-16", "tool_use_id": "toolu_01"},
    "data": {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "tool_use_id": "toolu_01"},
    "title": "● Bash(pytest -q)",
    "ui": {"collapsed_default": True, "badge": "TOOL"},
}
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
DECISION: dict[str, Any] = {
    "request_id": "h3fa4b2c1d0ef-17",
    "decision": "deny",
    "source": "user",
    "by": "owner via cli",
    "at": 1791000050.0,
    "note": None,
    "message": "push to a new branch instead",
    "reason": None,
    "interrupt": False,
    "updated_input": None,
    "updated_digest": None,
    "answers": None,
    "notes": None,
    "mode": None,
    "digest": DIGEST,
    "status": "decided",
    "delivery": "sent",
    "rule_ids": [],
    "pattern": None,
    "remembered": None,
    "also_decided": [],
}
REQUEST: dict[str, Any] = {
    "request_id": "h3fa4b2c1d0ef-17",
    "kind": "permission",
    "form": None,
    "session_id": "5bcc959a-d2e0-4b84-99d9-a702456ddf08",
    "run_id": "5bcc959a-d2e0-4b84-99d9-a702456ddf08:R1",
    "event_id": "5bcc959a-d2e0-4b84-99d9-a702456ddf08:R1:E6",
    "runner_id": "otter-1a2b3c4d",
    "agent_id": None,
    "agent_type": None,
    "tool_name": "Bash",
    "tool_input": {"command": "git push --force origin feature/login"},
    "truncated": None,
    "tool_use_id": "toolu_02",
    "digest": DIGEST,
    "risk": {"level": "high", "reasons": ["rewrites published history (git push --force)"]},
    "suggestions": [
        {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "git push:*"}],
            "behavior": "allow",
            "destination": "session",
        }
    ],
    "suggested": ["allow Bash(git push:*) in this session"],
    "held": True,
    "has_terminal": True,
    "opened_at": 1791000042.5,
    "expires_at": 1791086442.5,
    "escalated": ["push"],
    "escalated_at": 1791000052.5,
    "status": "pending",
    "decision": None,
}
CARD: dict[str, Any] = {
    **REQUEST,
    "diff": None,
    "change": None,
    "command": {
        "calls": [
            {
                "text": "git push --force origin feature/login",
                "words": ["git", "push", "--force", "origin", "feature/login"],
                "via": "",
                "piped": False,
                "risk": REQUEST["risk"],
            }
        ],
        "doubts": [],
        "writes": [],
        "more": 0,
    },
    "session": {
        "title": "make the login work again",
        "cwd": "/home/ann/shop",
        "model": "claude-sonnet-4-5",
        "agent_state": "waiting_permission",
    },
    "run": {
        "run_id": "5bcc959a-d2e0-4b84-99d9-a702456ddf08:R1",
        "prompt": "make the login work again",
        "started_at": 1791000000.0,
    },
    "age_seconds": 7.5,
    "others_waiting": 2,
    "rule": {
        "effect": None,
        "rules": [],
        "reasons": ["no rule allows git push --force origin feature/login"],
        "patterns": ["Bash(git push --force origin feature/login)"],
        "trust": None,
    },
}
TOKEN: dict[str, Any] = {
    "token_id": "t1a2b3c4d5e6f",
    "name": "phone",
    "kind": "token",
    "scopes": ["approve", "observe"],
    "created_at": 1791000000.0,
    "created_by": "owner via cli",
    "expires_at": 1793592000.0,
    "last_used_at": None,
}
RULE: dict[str, Any] = {
    "rule_id": "r_1a2b3c4d5e6f",
    "effect": "allow",
    "pattern": "Bash(git log:*)",
    "scope": "project",
    "scope_id": "p_4f2a9c0d1b3e5f67",
    "scope_path": "/home/ann/shop",
    "expires_at": 1791604800.0,
    "hits": 12,
    "last_hit_at": 1791000040.0,
    "created_at": 1791000000.0,
    "created_by": "owner via cli",
    "note": None,
}
NEW_RULE: dict[str, Any] = {
    "effect": "allow",
    "pattern": "Bash(git log:*)",
    "scope": "project",
    "scope_path": "/home/ann/shop",
    "expires": "7d",
}
TRUSTED: dict[str, Any] = {"project_id": "p_4f2a9c0d1b3e5f67", "path": "/home/ann/shop", "trust": "full"}
BRINGS: dict[str, Any] = {
    "path": "/home/ann/shop",
    "trusted": False,
    "hooks": [
        {"event": "PostToolUse", "matcher": "Edit", "runs": "make format", "file": ".claude/settings.json"},
    ],
    "servers": [
        {
            "name": "files",
            "transport": "stdio",
            "runs": "npx -y file-server --token •••",
            "gets": ["FILES_ROOT"],
            "file": ".mcp.json",
        },
    ],
    "variables": [{"name": "NODE_ENV", "says": "", "file": ".claude/settings.json"}],
    "allows": [{"name": "Bash(make test:*)", "says": "", "file": ".claude/settings.json"}],
    "others": [{"name": "enableAllProjectMcpServers", "says": "true", "file": ".claude/settings.local.json"}],
    "troubles": [],
}
PROJECT: dict[str, Any] = {
    "project_id": "p_4f2a9c0d1b3e5f67",
    "name": "shop",
    "path": "/home/ann/shop",
    "git_remote": "git@example.org:ann/shop.git",
    "git_branch": "feature/login",
    "is_dirty": True,
    "ahead": 2,
    "behind": 0,
    "worktree_of": None,
    "git_trouble": None,
    "has_claude_config": True,
    "trusted": True,
    "trust": "full",
    "last_modified": 1791000040.0,
    "checked_at": 1791000042.0,
    "live_sessions": 1,
    "prior_sessions": [
        {
            "session_id": "0c7d1f52-7e0e-4b0c-a1f8-3b7a7d0b6c11",
            "title": "write the login page",
            "last_used_at": 1790990000.0,
        }
    ],
    "runner_id": "otter-1a2b3c4d",
}
SCAN: dict[str, Any] = {
    "state": "done",
    "done": 42,
    "total": 42,
    "started_at": 1791000041.0,
    "seconds": 0.31,
    "notes": [],
    "watch": "live",
}
PLUGIN: dict[str, Any] = {
    "plugin_id": "review@team",
    "name": "review",
    "marketplace": "team",
    "version": "1.2.0",
    "enabled": True,
    "scope": "user",
    "project": None,
    "capabilities": ["commands", "hooks"],
    "errors": [],
}
OFFER: dict[str, Any] = {
    "plugin_id": "deploy@team",
    "name": "deploy",
    "marketplace": "team",
    "description": "Deploys the shop",
    "version": "0.3.0",
}
PLUGIN_BODY: dict[str, Any] = {"name": "review@team", "scope": "user"}
SERVER: dict[str, Any] = {
    "name": "issues",
    "transport": "http",
    "scope": "local",
    "project": "/home/ann/shop",
    "status": "failed",
    "last_error": "ECONNREFUSED: Unable to connect.",
    "checked_at": 1791000050.0,
    "config": {"url": "https://issues.example.org/mcp", "headers": {"Authorization": "•••"}},
    "tools": None,
    "login": None,
}
SERVERS: dict[str, Any] = {"mcp": [SERVER], "next": None}
PAST: dict[str, Any] = {
    "request_id": "h3fa4b2c1d0ef-9",
    "session_id": "5bcc959a-d2e0-4b84-99d9-a702456ddf08",
    "at": 1790999000.0,
    "tool_name": "Bash",
    "subject": "git log --oneline",
    "decision": "allow",
    "by": "owner via cli",
    "surprise": None,
}
ME: dict[str, Any] = {"name": "phone", "kind": "token", "scopes": ["approve", "observe"], "csrf": None}
DENY: dict[str, Any] = {"decision": "deny", "digest": DIGEST, "message": "push to a new branch instead"}

HISTOGRAM: dict[str, Any] = {"count": 3, "sum": 0.012, "buckets": [[0.005, 2], [0.01, 3]]}
LAG = {"window_seconds": 60.0, "samples": 3, "p50": 0.001, "p99": 0.004, "max": 0.004, **HISTOGRAM}
OVERHEAD = {"session_id": SESSION["session_id"], "calls": 3, "seconds": 0.012, "mean_seconds": 0.004}
STATS: dict[str, Any] = {
    "version": "0.1.0",
    "runner_id": "otter-1a2b3c4d",
    "at": 1791000060.0,
    "started_at": 1791000000.0,
    "uptime_seconds": 60.0,
    "clock_step_seconds": 0.0,
    "events": {"recorded": 17, "by_kind": {"run.start": 1, "tool.pre": 16}},
    "inputs": {"refused": {"not_json": 1}, "not_recorded": 0, "queued": 0, "queued_peak": 4, "batch_size": HISTOGRAM},
    "append_seconds": HISTOGRAM,
    "hook_seconds": HISTOGRAM,
    "hook_overhead": [OVERHEAD],
    "loop_lag_seconds": LAG,
    "requests": {"pending": 1, "held": 1, "oldest_held_seconds": 17.5},
    "sessions": 1,
    "surfaces": 2,
    "subscriber_failures": 0,
    "notify": {
        "push": {
            "sent": 3,
            "failed": 0,
            "skipped": 1,
            "dropped": 0,
            "queued": 0,
            "trouble": None,
            "last_sent_at": 1791000052.9,
        }
    },
    "store": {
        "seq_no": 17,
        "unindexed": 0,
        "database_bytes": 4096,
        "wal_bytes": 49472,
        "free_bytes": 77141131264,
        "damaged": None,
        "trouble": None,
    },
    "process": {"pid": 4711, "rss_bytes": 63184896, "open_fds": 25, "max_fds": 65536},
}

AUDIT_ROW: dict[str, Any] = {
    "seq_no": 19,
    "at": 1791000050.0,
    "kind": "permission.decision",
    "session_id": "5bcc959a-d2e0-4b84-99d9-a702456ddf08",
    "who": "owner",
    "surface": "cli",
    "source": "user",
    "about": "rm -rf build",
    "what": {"tool_name": "Bash", "request_id": "h3fa4b2c1d0ef-17", "decision_type": "deny", "status": "decided"},
    "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "hash": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
}

EXAMPLES: Mapping[tuple[str, str], dict[str, Any]] = {
    ("GET", "/healthz"): {"answer": {"status": "ok"}},
    **SESSION_EXAMPLES,
    ("GET", "/feed"): {"answer": {"events": [EVENT], "next": 17}},
    ("GET", "/requests"): {"answer": {"requests": [REQUEST], "next": None}},
    ("GET", "/requests/{request_id}"): {"answer": CARD},
    ("POST", "/requests/{request_id}/decision"): {"body": DENY, "answer": DECISION},
    ("POST", "/requests/decisions"): {
        "body": {"decisions": [{"request_id": "h3fa4b2c1d0ef-17", **DENY}]},
        "answer": {
            "decisions": [{"request_id": "h3fa4b2c1d0ef-17", "ok": True, "decision": DECISION, "error": None}],
            "next": None,
        },
    },
    ("GET", "/rules"): {"answer": {"rules": [RULE], "findings": [], "next": None}},
    ("POST", "/rules"): {"body": NEW_RULE, "answer": {**RULE, "hits": 0, "last_hit_at": None, "also_decided": []}},
    ("POST", "/rules/import"): {
        "body": {"rules": [NEW_RULE]},
        "answer": {
            "rules": [{**RULE, "hits": 0, "last_hit_at": None}],
            "existed": 0,
            "also_decided": [],
            "next": None,
        },
    },
    ("DELETE", "/rules/{rule_id}"): {"answer": {"ok": True}},
    ("POST", "/rules/simulate"): {
        "body": {**NEW_RULE, "limit": 1000},
        "answer": {"seen": 412, "decided": 37, "surprises": [], "examples": [PAST], "left": 0, "next": None},
    },
    ("GET", "/rules/suggestions"): {
        "answer": {
            "suggestions": [
                {
                    "effect": "allow",
                    "pattern": "Bash(git log:*)",
                    "scope": "project",
                    "scope_id": "p_4f2a9c0d1b3e5f67",
                    "scope_path": "/home/ann/shop",
                    "times": 7,
                    "last_at": 1790999000.0,
                    "examples": [PAST],
                }
            ],
            "seen": 412,
            "next": None,
        }
    },
    ("POST", "/rules/explain"): {
        "body": {"tool_name": "Bash", "tool_input": {"command": "git log -3"}, "cwd": "/home/ann/shop"},
        "answer": {
            "effect": "allow",
            "rules": [RULE],
            "reasons": [],
            "considered": [{"rule": RULE, "matched": True, "why": "covers git log -3"}],
            "patterns": ["Bash(git log -3)", "Bash(git log:*)"],
        },
    },
    ("GET", "/projects"): {"answer": {"projects": [PROJECT], "scan": SCAN, "next": None}},
    ("GET", "/projects/brings"): {"answer": BRINGS},
    ("GET", "/projects/scan"): {"answer": SCAN},
    ("POST", "/projects/scan"): {"answer": SCAN},
    ("POST", "/projects/trust"): {"body": {"path": "/home/ann/shop"}, "answer": TRUSTED},
    ("POST", "/projects/untrust"): {"body": {"path": "/home/ann/shop"}, "answer": {**TRUSTED, "trust": "none"}},
    ("GET", "/plugins"): {"answer": {"plugins": [PLUGIN], "next": None}},
    ("GET", "/plugins/available"): {"answer": {"available": [OFFER], "next": None}},
    ("GET", "/plugins/marketplaces"): {
        "answer": {
            "marketplaces": [{"name": "team", "source": "directory", "location": "/home/ann/market"}],
            "next": None,
        }
    },
    ("POST", "/plugins/marketplaces"): {
        "body": {"source": "/home/ann/market"},
        "answer": {"said": "Successfully added marketplace: team (declared in user settings)", "ok": True},
    },
    ("POST", "/plugins/marketplaces/update"): {
        "body": {"name": "team"},
        "answer": {"said": "Successfully updated marketplace: team", "ok": True},
    },
    ("DELETE", "/plugins/marketplaces/{name}"): {
        "answer": {"said": "Successfully removed marketplace: team", "ok": True}
    },
    **{
        ("POST", f"/plugins/{word}"): {
            "body": PLUGIN_BODY,
            "answer": {"said": f"Successfully {past} plugin: review (scope: user)", "ok": True},
        }
        for word, past in (
            ("install", "installed"),
            ("enable", "enabled"),
            ("disable", "disabled"),
            ("update", "updated"),
            ("uninstall", "uninstalled"),
        )
    },
    ("GET", "/mcp"): {"answer": SERVERS},
    ("GET", "/mcp/{name}"): {"answer": SERVERS},
    ("POST", "/mcp"): {
        "body": {
            "name": "issues",
            "transport": "http",
            "url": "https://issues.example.org/mcp",
            "headers": {"X-Team": "shop"},
        },
        "answer": {"said": "Added HTTP MCP server issues with URL: https://issues.example.org/mcp", "ok": True},
    },
    ("POST", "/mcp/check"): {"body": {"project": "/home/ann/shop"}, "answer": SERVERS},
    ("DELETE", "/mcp/{name}"): {"answer": {"said": "Removed MCP server issues from user config", "ok": True}},
    ("GET", "/tokens"): {"answer": {"tokens": [TOKEN], "next": None}},
    ("POST", "/tokens"): {
        "body": {"name": "phone", "scopes": ["observe", "approve"], "expires_seconds": 2592000},
        "answer": {**TOKEN, "token": "qdt_…"},
    },
    ("DELETE", "/tokens/{token_id}"): {"answer": {"ok": True}},
    ("POST", "/login-codes"): {
        "answer": {"url": "http://127.0.0.1:4180/login?code=…", "expires_seconds": 60.0},
    },
    ("GET", "/me"): {"answer": ME},
    ("GET", "/audit"): {"answer": {"audit": [AUDIT_ROW], "next": None}},
    ("GET", "/stats"): {"answer": STATS},
    ("GET", "/metrics"): {"answer": 'quarterdeck_events_total{kind="tool.pre"} 16\n'},
    ("POST", "/logout"): {"answer": {"ok": True}},
}
SUMMARIES: Mapping[tuple[str, str], str] = {
    ("GET", "/healthz"): "Health",
    ("GET", "/sessions"): "Sessions",
    ("GET", "/sessions/{session_id}"): "One session",
    ("GET", "/feed"): "What happened",
    ("GET", "/requests"): "Requests",
    ("GET", "/requests/{request_id}"): "One request",
    ("POST", "/requests/{request_id}/decision"): "Decide",
    ("POST", "/requests/decisions"): "Decide many",
    ("GET", "/rules"): "Rules",
    ("POST", "/rules"): "Make a rule",
    ("POST", "/rules/import"): "Make rules together",
    ("DELETE", "/rules/{rule_id}"): "Remove a rule",
    ("POST", "/rules/simulate"): "Try a rule on the past",
    ("GET", "/rules/suggestions"): "Rules your decisions imply",
    ("POST", "/rules/explain"): "What the rules say",
    ("GET", "/projects"): "Projects",
    ("GET", "/projects/brings"): "What a project brings",
    ("GET", "/projects/scan"): "How far a look for projects is",
    ("POST", "/projects/scan"): "Look for projects",
    ("POST", "/projects/trust"): "Trust a folder",
    ("POST", "/projects/untrust"): "Trust a folder no more",
    ("GET", "/plugins"): "Plugins",
    ("GET", "/plugins/available"): "Plugins to install",
    ("GET", "/plugins/marketplaces"): "Marketplaces",
    ("POST", "/plugins/marketplaces"): "Add a marketplace",
    ("POST", "/plugins/marketplaces/update"): "Update marketplaces",
    ("DELETE", "/plugins/marketplaces/{name}"): "Remove a marketplace",
    ("POST", "/plugins/install"): "Install a plugin",
    ("POST", "/plugins/enable"): "Enable a plugin",
    ("POST", "/plugins/disable"): "Disable a plugin",
    ("POST", "/plugins/update"): "Update a plugin",
    ("POST", "/plugins/uninstall"): "Uninstall a plugin",
    ("GET", "/mcp"): "MCP servers",
    ("GET", "/mcp/{name}"): "MCP servers of a name",
    ("POST", "/mcp"): "Add an MCP server",
    ("POST", "/mcp/check"): "Try MCP servers",
    ("DELETE", "/mcp/{name}"): "Remove an MCP server",
    ("GET", "/tokens"): "Tokens",
    ("POST", "/tokens"): "Make a token",
    ("DELETE", "/tokens/{token_id}"): "Revoke a token",
    ("POST", "/login-codes"): "A sign-in link",
    ("GET", "/me"): "Who calls",
    ("GET", "/audit"): "Who decided and changed what",
    ("GET", "/stats"): "Figures",
    ("GET", "/metrics"): "Figures for Prometheus",
    ("POST", "/logout"): "Sign out",
}
