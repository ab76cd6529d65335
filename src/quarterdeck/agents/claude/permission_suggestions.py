"""Claude Code's suggestions for a permission request, as sentences."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.model.payload import items, text

PLACES = {
    "session": "in this session",
    "localSettings": "in this project, for you",
    "projectSettings": "in this project, for everyone",
    "userSettings": "in all your projects",
    "cliArg": "until it ends",
}
MODES = {
    "acceptEdits": "accept edits without asking",
    "bypassPermissions": "ask nothing any more",
    "plan": "plan without changing anything",
    "default": "ask as usual",
    "dontAsk": "deny what no rule allows, without asking",
    "auto": "let a model decide",
}
BEHAVIOURS = {"allow": "allow", "deny": "deny", "ask": "ask about"}


def read_suggestions(suggestions: list[Any]) -> list[str]:
    """Each suggestion as a sentence; one of an unknown kind is named by its kind."""
    return [_sentence(one) for one in suggestions if isinstance(one, dict)]


def _sentence(suggestion: dict[str, Any]) -> str:
    kind = text(suggestion, "type")
    place = PLACES.get(text(suggestion, "destination"), "")
    match kind:
        case "addRules" | "replaceRules":
            verb = BEHAVIOURS.get(text(suggestion, "behavior"), "allow")
            sentence = f"{'only ' if kind == 'replaceRules' else ''}{verb} {_rules(suggestion)}"
        case "removeRules":
            sentence = f"forget the rule {_rules(suggestion)}"
        case "addDirectories":
            sentence = f"work in {_folders(suggestion)} too"
        case "removeDirectories":
            sentence = f"no longer work in {_folders(suggestion)}"
        case "setMode":
            mode = text(suggestion, "mode")
            sentence = MODES.get(mode, f"switch to the mode {mode}")
        case _:
            sentence = f"a change that Quarterdeck does not know ({kind or 'unnamed'})"
    return f"{sentence} {place}".rstrip()


def _rules(suggestion: dict[str, Any]) -> str:
    rules = [rule for rule in items(suggestion, "rules") if isinstance(rule, dict)]
    named = [_rule(text(rule, "toolName"), text(rule, "ruleContent")) for rule in rules]
    return ", ".join(named) or "nothing"


def _rule(tool: str, content: str) -> str:
    return f"{tool}({content})" if content else tool


def _folders(suggestion: dict[str, Any]) -> str:
    return ", ".join(folder for folder in items(suggestion, "directories") if isinstance(folder, str)) or "no folder"
