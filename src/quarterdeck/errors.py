"""The exceptions of Quarterdeck, by who must act."""

from __future__ import annotations


class QuarterdeckError(Exception):
    """Something a person can mend; the message names the thing and the next step."""


class ConfigError(QuarterdeckError):
    """A setting is wrong: the person edits it."""


class HomeError(QuarterdeckError):
    """The home folder cannot be used: the person mends its place, owner or mode."""


class AlreadyRunning(QuarterdeckError):
    """Another daemon owns this home."""


class StoreError(QuarterdeckError):
    """The log cannot take or give events: disk, permissions or damage."""


class Misused(QuarterdeckError):
    """A command was told a word that it does not know: the person writes another."""


class NoDaemon(QuarterdeckError):
    """No daemon answers: the person starts one."""


class Refused(QuarterdeckError):
    """The daemon or another program said no."""


class BadInput(QuarterdeckError):
    """What came over the wire breaks a limit or is not JSON; the sender mends it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class BadPattern(QuarterdeckError):
    """A rule's pattern means nothing: the person writes it another way."""


class BadRules(QuarterdeckError):
    """A list of rules cannot be taken as it is: the person mends the field that is named."""
