"""The hub that this machine has joined, in a file of the home: written by `qd hub` and `qd projects share`, read by the
daemon. What leaves the machine is set here and nowhere else, so that no call of the API can change it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.config.addresses import hub_url_problem
from quarterdeck.config.settings import HubSettings
from quarterdeck.errors import ConfigError
from quarterdeck.system.private_files import read_private, write_private

FILE, TOKEN_FILE = "hub.json", "hub-token"
SHORTEST_TOKEN = 16


class HubMembership(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The file: the hub's address, None for a machine that has joined none, and the level of each folder that has one.
    A folder's level is that of everything below it."""

    url: str | None = None
    share: dict[str, str] = {}


class HubAddress(Struct, frozen=True):
    """Where the hub is, and the file with the token for it."""

    url: str
    token_file: Path

    def token(self) -> str:
        """The token now: the file may be replaced at any time."""
        token = read_private("hub.token_file", str(self.token_file)).strip()
        if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
            raise ConfigError(f"hub.token_file: {self.token_file}: must hold one token and nothing else")
        return token


def read_membership(home: Path) -> HubMembership:
    """What the file says; nothing for a file that is missing. Raises ConfigError for one that cannot be read: without
    the levels in it, too much could leave the machine."""
    path = home / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=HubMembership)
    except FileNotFoundError:
        return HubMembership()
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise ConfigError(
            f"{path}: cannot be read ({error}); correct it, or remove it and join the hub again"
        ) from None


def write_membership(home: Path, membership: HubMembership) -> None:
    """Replace the file."""
    write_private(home / FILE, msgspec.json.format(msgspec.json.encode(membership)) + b"\n", durable=True)


def hub_address(home: Path, settings: HubSettings, membership: HubMembership) -> HubAddress | None:
    """The hub of this machine: the one of the settings, else the joined one; None without any."""
    url = settings.url or membership.url
    if url is None:
        return None
    token_file = Path(settings.token_file).expanduser() if settings.token_file else home / TOKEN_FILE
    return HubAddress(url.rstrip("/"), token_file)


def join(home: Path, url: str, token: str) -> HubAddress:
    """Join a hub, or take a new token for it: the token first, so that the daemon never connects with an old one."""
    if problem := hub_url_problem(url):
        raise ConfigError(f"{url}: {problem}")
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError("the token must be the one that `qd hub enroll` printed, and nothing else")
    write_private(home / TOKEN_FILE, token + "\n", durable=True)
    membership = replace(read_membership(home), url=url.rstrip("/"))
    write_membership(home, membership)
    return HubAddress(url.rstrip("/"), home / TOKEN_FILE)


def leave(home: Path) -> None:
    """Leave the hub. The levels of folders stay, for the next time."""
    write_membership(home, replace(read_membership(home), url=None))
    with contextlib.suppress(FileNotFoundError):
        (home / TOKEN_FILE).unlink()


def set_share(home: Path, folder: str, level: str | None) -> HubMembership:
    """Set the level of a folder and what is below it; None removes it."""
    membership = read_membership(home)
    share = {path: other for path, other in membership.share.items() if path != folder}
    changed = replace(membership, share=share if level is None else {**share, folder: level})
    write_membership(home, changed)
    return changed


def stamp(home: Path, address: HubAddress | None) -> tuple[int, ...]:
    """Changes whenever one of the files does."""
    found = []
    for path in (home / FILE, address.token_file if address else home / TOKEN_FILE):
        try:
            status = path.stat()
            found += [status.st_mtime_ns, status.st_ino, status.st_size]
        except OSError:
            found += [0, 0, 0]
    return tuple(found)
