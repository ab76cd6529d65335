"""Holders: which connection holds the identity of each runner, and its epoch."""

from __future__ import annotations

from msgspec import Struct


class Holder(Struct, frozen=True, kw_only=True):
    """The connection that holds an identity. `instance` is one start of one daemon, `address` the other side of the
    connection."""

    runner_id: str
    epoch: int
    instance: str
    address: str = ""


class Rival(Struct, frozen=True, kw_only=True):
    """A second runner with the identity of a connected one."""

    instance: str
    address: str
    at: float


class Claim(Struct, frozen=True, kw_only=True):
    """The result of a registration: the new holder, or None where it was refused. `replaced` is the holder whose
    connection must be closed."""

    holder: Holder | None
    replaced: Holder | None = None


class Holders:
    """The holder of each identity. A runner has at most one: its epoch is higher than that of every earlier one, and
    what comes with another epoch does not count."""

    def __init__(self) -> None:
        self._holders: dict[str, Holder] = {}
        self._rivals: dict[str, Rival] = {}

    def claim(self, runner_id: str, instance: str, last_epoch: int, *, address: str = "", at: float = 0.0) -> Claim:
        """Give an identity to a connection. `last_epoch` is the last one that was ever given. The same daemon on a new
        connection takes its own place; any other is refused while there is a holder."""
        current = self._holders.get(runner_id)
        if current is not None and (not instance or instance != current.instance):
            self._rivals[runner_id] = Rival(instance=instance, address=address, at=at)
            return Claim(holder=None)
        epoch = max(last_epoch, current.epoch if current else 0) + 1
        holder = Holder(runner_id=runner_id, epoch=epoch, instance=instance, address=address)
        self._holders[runner_id] = holder
        return Claim(holder=holder, replaced=current)

    def is_current(self, runner_id: str, epoch: int) -> bool:
        """True for the epoch of the holder."""
        current = self._holders.get(runner_id)
        return current is not None and current.epoch == epoch

    def holder(self, runner_id: str) -> Holder | None:
        """The connection that holds this identity now."""
        return self._holders.get(runner_id)

    def rival(self, runner_id: str) -> Rival | None:
        """The last runner that was refused because there was a holder; it stays until a person decides."""
        return self._rivals.get(runner_id)

    def release(self, runner_id: str, epoch: int) -> bool:
        """The connection with this epoch has ended. False when another has taken its place."""
        if not self.is_current(runner_id, epoch):
            return False
        del self._holders[runner_id]
        return True

    def settle(self, runner_id: str) -> None:
        """A person has decided: forget the rival."""
        self._rivals.pop(runner_id, None)
