"""The settings of the file as the core reads them."""

from __future__ import annotations

import os
from pathlib import Path
from zoneinfo import ZoneInfo

from quarterdeck.config import Config, claude_config_dir
from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.model.state import Settings
from quarterdeck.core.model.unattended_policy import Policy, read_hours
from quarterdeck.daemon.ingest.symlinks import folds_case

GUARDS = ("settings.json", "settings.local.json", "plugins", "hooks")
"""What of Claude Code's folder says what an agent may do."""


def settings_of(config: Config, home: Path) -> Settings:
    """What a person configured about deciding. Our own folder and the agent's settings are what guards it."""
    guarded = [home, *(claude_config_dir(config) / name for name in GUARDS)]
    decide = config.decide
    person = os.path.realpath(Path.home())
    return Settings(
        hold=decide.hold,
        wait_seconds=decide.wait_seconds,
        hold_stop=decide.hold_stop,
        unattended=_policy_of(config),
        home=person,
        our_home=os.path.realpath(home),
        case_folds=folds_case(person),
        guarded=tuple(str(path.absolute()) for path in guarded),
        max_sessions=config.sdk.max_sessions,
        idle_seconds=config.sdk.idle_seconds,
        approval_seconds=config.sdk.approval_seconds,
    )


def _policy_of(config: Config) -> Policy:
    """What a person settled for requests that nobody answers, as the core reads it."""
    given, notify = config.unattended, config.notify
    quiet = {level: getattr(given, f"quiet_{level}") for level in LEVELS}
    channels = {"desktop": notify.desktop, "webhook": notify.webhook_url, "push": notify.push_url}
    return Policy(
        after_seconds=given.after_seconds,
        by_risk={level: getattr(given, level) for level in LEVELS},
        quiet_by_risk={level: action for level, action in quiet.items() if action is not None},
        quiet_hours=read_hours(given.quiet_hours),
        channels=tuple(name for name, wanted in channels.items() if wanted),
        grace_seconds=notify.grace_seconds,
        min_risk=notify.min_risk,
        quiet_notify=notify.quiet,
        include_input=notify.include_input,
    )


def zone_of(config: Config) -> ZoneInfo | None:
    """Where days begin and end; None is this machine's own."""
    return ZoneInfo(config.unattended.timezone) if config.unattended.timezone else None
