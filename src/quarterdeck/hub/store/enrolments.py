"""The enrolled machines: the digest of each credential, the machine behind it, and its epoch."""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.payload import safe_id
from quarterdeck.errors import Refused

PREFIX = "qdr_"
"""The beginning of a runner's token."""


class Enrolment(Struct, frozen=True, kw_only=True):
    """One enrolled credential. `machine` is None until a runner has registered with it."""

    enrolment_id: str
    name: str
    created_at: float
    created_by: str
    expelled_at: float | None
    machine: int | None


class Machine(Struct, frozen=True, kw_only=True):
    """One machine whose events are stored: `last_number` is the last of its contiguous events."""

    machine: int
    runner_id: str
    name: str
    version: str
    epoch: int
    last_number: int
    last_hash: str
    seen_at: float


class TakenIdentity(Refused):
    """A machine that registers with the credential or the identity of another one."""


def digest_of(token: str) -> str:
    """What is stored of a token: enough to verify it, not to recover it."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def new_credential(name: str) -> tuple[str, str]:
    """An id for an enrolment, and its token."""
    return f"{safe_id(name, 'runner')[:64]}-{secrets.token_hex(4)}", PREFIX + secrets.token_urlsafe(32)


def add_enrolment(db: sqlite3.Connection, enrolment_id: str, token: str, name: str, by: str, at: float) -> Enrolment:
    """Store a new credential."""
    row = (enrolment_id, name, digest_of(token), at, by, None, None)
    db.execute("INSERT INTO enrolments VALUES(?,?,?,?,?,?,?)", row)
    return Enrolment(enrolment_id=enrolment_id, name=name, created_at=at, created_by=by, expelled_at=None, machine=None)


def expel_enrolment(db: sqlite3.Connection, enrolment_id: str, at: float) -> None:
    """Make a credential worthless. What its machine sent stays."""
    db.execute("UPDATE enrolments SET expelled_at=? WHERE enrolment_id=?", (at, enrolment_id))


_COLUMNS = "enrolment_id, name, created_at, created_by, expelled_at, machine"


def enrolment_of(db: sqlite3.Connection, token: str) -> Enrolment | None:
    """The enrolment with this token, expelled or not."""
    sql = f"SELECT {_COLUMNS} FROM enrolments WHERE verifier = ?"  # noqa: S608
    row = db.execute(sql, (digest_of(token),)).fetchone()
    return None if row is None else _enrolment(row)


def enrolments(db: sqlite3.Connection) -> list[Enrolment]:
    """Every enrolment, oldest first."""
    sql = f"SELECT {_COLUMNS} FROM enrolments ORDER BY created_at, enrolment_id"  # noqa: S608
    return [_enrolment(row) for row in db.execute(sql)]


def digests(db: sqlite3.Connection) -> dict[str, str]:
    """The enrolment of each credential, by what is stored of it."""
    return dict(db.execute("SELECT verifier, enrolment_id FROM enrolments").fetchall())


def _enrolment(row: Any) -> Enrolment:
    texts: list[Any] = [value.decode() if isinstance(value, bytes) else value for value in row]
    return Enrolment(**dict(zip(Enrolment.__struct_fields__, texts, strict=True)))


def register_machine(
    db: sqlite3.Connection, enrolment_id: str, runner_id: str, name: str, version: str, at: float
) -> Machine:
    """The machine behind a credential with its next epoch. A credential belongs to the first machine that registers
    with it, and a machine to one credential at a time."""
    bound = db.execute("SELECT machine FROM enrolments WHERE enrolment_id=?", (enrolment_id,)).fetchone()[0]
    row = db.execute("SELECT machine FROM machines WHERE runner_id=?", (runner_id,)).fetchone()
    if bound is not None and (row is None or row[0] != bound):
        other = db.execute("SELECT runner_id FROM machines WHERE machine=?", (bound,)).fetchone()[0]
        raise TakenIdentity(f"this token belongs to {other}; enrol {runner_id} by itself: qd hub enroll NAME")
    if row is not None and bound is None:
        sql = "SELECT name FROM enrolments WHERE machine=? AND expelled_at IS NULL AND enrolment_id <> ?"
        holder = db.execute(sql, (row[0], enrolment_id)).fetchone()
        if holder is not None:
            raise TakenIdentity(f"{runner_id} is already enrolled as {holder[0]}; expel one of them: qd hub expel")
    if row is None:
        sql = "INSERT INTO machines(runner_id, name, version, epoch, last_number, last_hash, seen_at)"
        machine = db.execute(f"{sql} VALUES(?,?,?,0,0,x'',?)", (runner_id, name, version, at)).lastrowid
    else:
        machine = row[0]
    db.execute("UPDATE enrolments SET machine=? WHERE enrolment_id=?", (machine, enrolment_id))
    db.execute(
        "UPDATE machines SET epoch=epoch+1, name=?, version=?, seen_at=? WHERE machine=?", (name, version, at, machine)
    )
    return machines(db, machine)[0]


def mark_seen(db: sqlite3.Connection, machine: int, at: float) -> None:
    """Note when a machine was connected last."""
    db.execute("UPDATE machines SET seen_at=? WHERE machine=?", (at, machine))


def machines(db: sqlite3.Connection, machine: int | None = None) -> list[Machine]:
    """Every machine, or this one."""
    columns = ", ".join(Machine.__struct_fields__).replace("last_hash", "hex(last_hash)")
    sql = f"SELECT {columns} FROM machines WHERE ? IS NULL OR machine = ? ORDER BY machine"  # noqa: S608
    found = []
    for row in db.execute(sql, (machine, machine)):
        texts = [value.decode() if isinstance(value, bytes) else value for value in row]
        values: dict[str, Any] = dict(zip(Machine.__struct_fields__, texts, strict=True))
        found.append(Machine(**values | {"last_hash": values["last_hash"].lower()}))
    return found
