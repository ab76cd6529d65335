"""The exceptions of Quarterdeck, by who must act."""

from __future__ import annotations


class QuarterdeckError(Exception):
    """An error that a person can fix; the message names the thing and the next step."""


class ConfigError(QuarterdeckError):
    """A setting is wrong: the person edits it."""


class HomeError(QuarterdeckError):
    """The home folder cannot be used: the person fixes its place, owner or mode."""


class AlreadyRunning(QuarterdeckError):
    """Another daemon owns this home."""


class StoreError(QuarterdeckError):
    """The log cannot be written or read: disk, permissions or damage."""


class TooSlow(StoreError):
    """A query of the log took too long: the caller asks for less."""


class Misused(QuarterdeckError):
    """A command got a word that it does not know: the person types another."""


class NoDaemon(QuarterdeckError):
    """No daemon answers: the person starts one."""


class Refused(QuarterdeckError):
    """The daemon or another program refused."""


class BadInput(QuarterdeckError):
    """Input from outside breaks a limit or is not JSON: the sender corrects it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class BadPattern(QuarterdeckError):
    """A rule's pattern has no meaning: the person writes it another way."""


class BadRules(QuarterdeckError):
    """A list of rules cannot be accepted: the person corrects the field that is named."""
