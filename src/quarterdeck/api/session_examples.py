"""Examples of the operations on sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SESSION: dict[str, Any] = {
    "session_id": "5bcc959a-d2e0-4b84-99d9-a702456ddf08",
    "agent_state": "waiting_permission",
    "state_source": "hooks",
    "state_at": 1791000042.5,
    "pid": 48213,
    "mode": "observed",
    "cwd": "/home/ann/shop",
    "project_id": "p_4f2a9c0d1b3e5f67",
    "title": "make the login work again",
    "model": "claude-sonnet-4-5",
    "permission_mode": "default",
    "entrypoint": "cli",
    "tag": None,
    "started_at": 1791000000.0,
    "last_event_at": 1791000042.5,
    "ended_at": None,
    "run_id": "5bcc959a-d2e0-4b84-99d9-a702456ddf08:R1",
    "run_started_at": None,
    "runs": 1,
    "pending": 1,
    "queued": 0,
    "counters": {"tool_uses": 3, "tool_failures": 0, "permission_requests": 1, "blocks": 0},
    "usage": {
        "input_tokens": 4210,
        "output_tokens": 980,
        "cache_read_tokens": 61200,
        "cache_write_tokens": 8300,
        "cost_usd": 0.076815,
        "reported_cost_usd": None,
        "context_tokens": 21400,
        "model": "claude-sonnet-4-5",
        "missing": [],
    },
    "resume": {"command": "claude --resume 5bcc959a-d2e0-4b84-99d9-a702456ddf08", "cwd": "/home/ann/shop"},
    "todos": [{"todo_id": "1", "text": "find the failing test", "status": "done"}],
    "owned": None,
    "memory_bytes": 187301888,
    "where": "tmux -S /tmp/tmux-1000/default attach-session -t %3",
    "runner_id": "otter-1a2b3c4d",
}
OURS: dict[str, Any] = {
    **SESSION,
    "where": None,
    "mode": "tmux",
    "agent_state": "sent",
    "pending": 0,
    "owned": {
        "status": "up",
        "started_by": "owner via cli",
        "launched_at": 1791000000.0,
        "terminal": "tmux -S /home/ann/.local/share/quarterdeck/run/sessions/tmux attach -t $3",
        "worktree": None,
        "shell": False,
        "moved_to": None,
    },
}
AT = "/sessions/{session_id}"
WORKTREE: dict[str, Any] = {
    "session_id": SESSION["session_id"],
    "project": "/home/ann/shop",
    "path": "/home/ann/.local/share/quarterdeck-worktrees/shop-5bcc959a",
    "branch": "quarterdeck/5bcc959a",
    "base": "main",
    "is_dirty": False,
    "ahead": 2,
    "behind": 0,
    "trouble": None,
}
OF = "/worktrees/{session_id}"

SESSION_EXAMPLES: Mapping[tuple[str, str], dict[str, Any]] = {
    ("GET", "/sessions"): {"answer": {"sessions": [SESSION], "next": None}},
    ("GET", AT): {"answer": SESSION},
    ("POST", "/sessions"): {
        "body": {"cwd": "/home/ann/shop", "mode": "tmux", "prompt": "make the login work again"},
        "answer": OURS,
    },
    ("POST", f"{AT}/messages"): {
        "body": {"prompt": "and write a test for it"},
        "answer": {"message_id": "m3fa4b2c1d0ef9a01", "session_id": SESSION["session_id"], "ahead": 1},
    },
    ("POST", f"{AT}/interrupt"): {"answer": {**OURS, "interrupted": True}},
    ("POST", f"{AT}/end"): {"answer": OURS},
    ("POST", f"{AT}/mode"): {"body": {"mode": "sdk"}, "answer": OURS},
    ("POST", f"{AT}/fork"): {"body": {"mode": "sdk"}, "answer": OURS},
    ("POST", f"{AT}/takeover"): {"body": {"mode": "tmux"}, "answer": OURS},
    ("GET", "/worktrees"): {"answer": {"worktrees": [WORKTREE], "next": None}},
    ("GET", f"{OF}/diff"): {
        "answer": {
            "session_id": SESSION["session_id"],
            "diff": "diff --git a/login.py b/login.py\n",
            "is_cut": False,
            "files": [{"path": "login.py", "added": 3, "removed": 1}],
            "untracked": ["notes.txt"],
        }
    },
    ("POST", f"{OF}/merge"): {"answer": WORKTREE},
    ("DELETE", OF): {"answer": WORKTREE},
    ("GET", f"{AT}/screen"): {"answer": {"session_id": SESSION["session_id"], "text": "❯ make the login work again"}},
}
