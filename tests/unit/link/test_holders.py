"""Holders: one connection for each identity, and a higher epoch each time."""

from __future__ import annotations

import pytest

from quarterdeck.link.holders import Holders


@pytest.mark.law("H6")
def test_every_registration_has_a_higher_epoch_than_all_before() -> None:
    holders = Holders()
    first = holders.claim("r1", "a", last_epoch=41).holder
    assert first is not None
    assert first.epoch == 42
    second = holders.claim("r1", "a", last_epoch=41)
    assert second.holder is not None
    assert second.holder.epoch == 43
    assert second.replaced == first
    assert not holders.is_current("r1", 42)
    assert not holders.release("r1", 42)
    assert holders.release("r1", 43)


@pytest.mark.law("H7")
def test_a_second_live_holder_is_refused_and_both_are_known() -> None:
    holders = Holders()
    holders.claim("r1", "a", last_epoch=0, address="10.0.0.1")
    assert holders.claim("r1", "b", last_epoch=1, address="10.0.0.2", at=5.0).holder is None
    holder, rival = holders.holder("r1"), holders.rival("r1")
    assert holder is not None
    assert rival is not None
    assert (holder.address, rival.address, rival.at) == ("10.0.0.1", "10.0.0.2", 5.0)
    holders.settle("r1")
    assert holders.rival("r1") is None


@pytest.mark.law("H7")
def test_a_runner_that_names_no_instance_never_replaces_another() -> None:
    holders = Holders()
    holders.claim("r1", "", last_epoch=0)
    assert holders.claim("r1", "", last_epoch=1).holder is None


@pytest.mark.law("H6")
def test_another_instance_follows_once_the_holder_is_gone() -> None:
    holders = Holders()
    holders.claim("r1", "a", last_epoch=0)
    holders.release("r1", 1)
    claim = holders.claim("r1", "b", last_epoch=1)
    assert claim.holder is not None
    assert claim.holder.epoch == 2
    assert claim.replaced is None
