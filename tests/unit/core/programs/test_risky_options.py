from __future__ import annotations

from quarterdeck.core.programs.risky_options import RISKY_OPTIONS, uses_option


def test_a_risky_option_is_found_in_a_cluster_and_by_its_beginning() -> None:
    gpg = RISKY_OPTIONS["gpg"]
    assert uses_option(gpg, ("gpg", "--outp=x"), 1)
    assert uses_option(gpg, ("gpg", "-ao", "x"), 1)
    assert not uses_option(gpg, ("gpg", "-a"), 1)
    assert not uses_option(gpg, ("gpg", "--output", "x"), 3)
