"""Enrolled credentials: only a digest is stored, and an expelled one is known as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.hub.store.enrolments import (
    add_enrolment,
    digest_of,
    enrolment_of,
    enrolments,
    expel_enrolment,
    machines,
    new_credential,
    register_machine,
)
from quarterdeck.hub.store.hub_schema import open_hub_store


@pytest.mark.law("H5")
def test_a_token_is_stored_as_a_digest_and_found_by_it(tmp_path: Path) -> None:
    db = open_hub_store(tmp_path / "hub.db", "normal")
    enrolment_id, token = new_credential("build box")
    made = add_enrolment(db, enrolment_id, token, "build box", "owner", 1.0)
    assert enrolment_of(db, token) == made
    assert enrolment_of(db, digest_of(token)) is None
    assert token.encode() not in (tmp_path / "hub.db").read_bytes() + (tmp_path / "hub.db-wal").read_bytes()
    expel_enrolment(db, enrolment_id, 2.0)
    assert [one.expelled_at for one in enrolments(db)] == [2.0]


@pytest.mark.law("H6")
def test_each_registration_gets_a_higher_epoch(tmp_path: Path) -> None:
    db = open_hub_store(tmp_path / "hub.db", "normal")
    add_enrolment(db, "e", "t", "a", "owner", 1.0)
    assert [register_machine(db, "e", "a", "a", "1", 2.0).epoch for _ in range(3)] == [1, 2, 3]
    assert [(one.runner_id, one.last_number, one.last_hash) for one in machines(db)] == [("a", 0, "")]
