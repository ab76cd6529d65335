"""The share policy: how much leaves, by session, request and folder, in what is known now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quarterdeck.core.model.events import OWN
from quarterdeck.link.redaction.secret_labels import LABEL, is_secret_value
from quarterdeck.link.redaction.secret_remover import SecretRemover
from quarterdeck.link.redaction.share_levels import EVERYTHING, NO_OUTPUT, TITLES, ShareLevels, strictest

ABOUT_NO_PROJECT = frozenset(
    {"healthz", "get_health", "list_settings", "get_stats", "get_metrics", "list_runners", "list_clients", "list_rules"}
    | {"suggest_rules", "list_marketplaces", "list_offers", "update_marketplaces", "check_servers"}
)
"""Operations whose answer holds nothing of a project, or only rules."""

OUTPUT = frozenset({"get_screen", "get_diff", "terminal_input", "terminal_resize", "get_event", "get_feed"})
"""Operations that show what tools gave back."""

FOLDERS = ("scope_path", "path", "project", "cwd", "folder")


def secrets_of(environ: Mapping[str, str]) -> list[str]:
    """The secrets in an environment: the values of variables with the name of one."""
    return [value for name, value in environ.items() if LABEL.fullmatch(name) and is_secret_value(value, is_tight=True)]


class SharePolicy:
    """The levels and the secrets. `folder_of` gives the folder of a session, `session_of` the session of a request;
    both are empty for one that is unknown."""

    def __init__(
        self,
        levels: ShareLevels,
        secrets: SecretRemover,
        folder_of: Callable[[str], str],
        session_of: Callable[[str], str],
    ) -> None:
        self.levels = levels
        self.secrets = secrets
        self._folder_of, self._session_of = folder_of, session_of

    def of_session(self, session_id: str) -> str:
        """The level of a session."""
        if session_id == OWN:
            return self.levels.own()
        return EVERYTHING if self.levels.shares_all else self.levels.of(self._folder_of(session_id))

    def of_data(self, level: str, data: Any) -> str:
        """The level of an event about the machine itself: that of the folder which its data names, if it names one."""
        folders = [data[key] for key in FOLDERS if isinstance(data, dict) and isinstance(data.get(key), str)]
        return strictest([level, *(self.levels.of(folder) for folder in folders)])

    def of_call(self, name: str, args: Mapping[str, Any]) -> str:
        """The level of a call: that of the sessions, requests and folders that it names. One that names none sees all
        of them, so it has the strictest level."""
        if self.levels.shares_all or name in ABOUT_NO_PROJECT:
            return EVERYTHING if self.levels.shares_all else self.levels.own()
        found = [self.of_session(value) for value in _texts(args, "session_id", "session_ids")]
        found += [self.of_session(self._session_of(value)) for value in _texts(args, "request_id")]
        decisions = args.get("decisions")
        for decision in decisions if isinstance(decisions, list) else []:
            found += [self.of_session(self._session_of(value)) for value in _texts(decision, "request_id")]
        found += [self.levels.of(value) for value in _texts(args, *FOLDERS)]
        return strictest(found) if found else self.levels.strictest()

    def refusal(self, name: str, args: Mapping[str, Any], level: str) -> str | None:
        """Why a call may not be answered at this level; None when it may."""
        if level not in (EVERYTHING, NO_OUTPUT, TITLES):
            return "its project is not shared with the hub"
        if level != EVERYTHING and name in OUTPUT:
            return "the output of its project is not shared with the hub"
        if level == TITLES and name == "decide" and args.get("decision") not in ("deny", "pass", "block"):
            return "its project shares only titles with the hub: what cannot be seen there cannot be allowed there"
        if level == TITLES and name == "decide_many":
            return "its project shares only titles with the hub: decide one request at a time"
        return None


def _texts(args: Any, *names: str) -> list[str]:
    if not isinstance(args, Mapping):
        return []
    values = [args.get(name) for name in names]
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return [one for one in flat if isinstance(one, str)]
