"""Quarterdeck's hooks in the form that tests need."""

from typing import Any

from quarterdeck.agents.base import Endpoint
from quarterdeck.agents.claude.hook_setup import Groups

OLD, NEW = "2.1.197", "2.1.325"


def endpoint(wait_seconds: float = 86400.0, *, holds_stop: bool = False, **changed: str) -> Endpoint:
    values = {
        "url": "http://127.0.0.1:4180",
        "hook_token": "t0ken",
        "socket": "/home/a/.quarterdeck/run/hook.sock",
        "python": "/usr/bin/python3",
        "hook_file": "/opt/quarterdeck/hook.py",
        **changed,
    }
    return Endpoint(wait_seconds=wait_seconds, holds_stop=holds_stop, **values)


def hooks_of(groups: Groups, event: str) -> list[dict[str, Any]]:
    return [hook for group in groups[event] for hook in group["hooks"]]


def the_hook(groups: Groups, event: str) -> dict[str, Any]:
    (hook,) = hooks_of(groups, event)
    return hook
