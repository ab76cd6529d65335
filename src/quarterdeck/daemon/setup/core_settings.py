"""The settings of config.yaml as the core reads them."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from zoneinfo import ZoneInfo

from quarterdeck.agents.registry import AGENTS
from quarterdeck.config.settings import Config
from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.model.state import Settings
from quarterdeck.core.model.unattended_policy import UnattendedPolicy, read_hours
from quarterdeck.daemon.ingest.symlinks import folds_case
from quarterdeck.drivers.registry import Drivers


def settings_of(config: Config, home: Path, drivers: Drivers) -> Settings:
    """The settings for deciding. Quarterdeck's home and the agents' own settings are guarded."""
    guarded = [home, *(path for driver in drivers.by_name.values() for path in driver.guarded)]
    decide = config.decide
    user_home = os.path.realpath(Path.home())
    return Settings(
        hold=decide.hold,
        wait_seconds=decide.wait_seconds,
        hold_stop=decide.hold_stop,
        confirm_high=decide.confirm_high,
        unattended=_policy_of(config),
        home=user_home,
        quarterdeck_home=os.path.realpath(home),
        case_folds=folds_case(user_home),
        guarded=tuple(str(path.absolute()) for path in guarded),
        max_sessions=config.sdk.max_sessions,
        idle_seconds=config.sdk.idle_seconds,
        approval_seconds=config.sdk.approval_seconds,
        capabilities={name: AGENTS[name].capabilities for name in drivers.by_name},
    )


def _policy_of(config: Config) -> UnattendedPolicy:
    """The policy for unanswered requests, as the core reads it."""
    policy, notify = config.unattended, config.notify
    quiet = {level: getattr(policy, f"quiet_{level}") for level in LEVELS}
    channels = {"desktop": notify.desktop, "webhook": notify.webhook_url, "push": notify.push_url}
    return UnattendedPolicy(
        after_seconds=policy.after_seconds,
        by_risk={level: getattr(policy, level) for level in LEVELS},
        quiet_by_risk={level: action for level, action in quiet.items() if action is not None},
        quiet_hours=read_hours(policy.quiet_hours),
        channels=tuple(name for name, is_set in channels.items() if is_set),
        grace_seconds=notify.grace_seconds,
        min_risk=notify.min_risk,
        quiet_notify=notify.quiet,
        include_input=notify.include_input,
    )


def zone_of(config: Config) -> ZoneInfo | None:
    """The time zone of quiet hours; None for local time."""
    return ZoneInfo(config.unattended.timezone) if config.unattended.timezone else None


def runner_name(config: Config) -> str:
    """The name of this machine, as people know it."""
    return config.runner.name or socket.gethostname().split(".")[0]
