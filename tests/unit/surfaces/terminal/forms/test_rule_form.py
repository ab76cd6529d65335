"""A rule in words."""

from __future__ import annotations

from quarterdeck.surfaces.terminal.forms.rule_form import rule_sentence, simulation_sentence, trust_warning


def test_a_rule_to_remember_is_a_sentence() -> None:
    assert (
        rule_sentence("allow", "Bash(ls:*)", "project", "7 days")
        == "Always allow Bash(ls:*) in this project for 7 days."
    )
    assert rule_sentence("deny", "", "user", "forever") == "Always deny … everywhere."
    page = {"seen": 412, "decided": 37, "surprises": [1], "left": 3}
    assert simulation_sentence(page) == (
        "It would have decided 37 of 412 past requests (of the last 412), 1 of them surprising."
    )
    assert "no past requests" in simulation_sentence({"seen": 0})


def test_saving_a_project_rule_says_that_it_also_trusts_the_project() -> None:
    assert "trusts /home/ann/shop for rules" in trust_warning("project", "allow", None, "/home/ann/shop")
    assert "qd projects trust /w" in trust_warning("project", "allow", "none", "/w")
    assert trust_warning("project", "deny", "none", "/w") == ""
    assert trust_warning("project", "allow", "rules", "/w") == ""
    assert trust_warning("user", "allow", None, "/w") == ""
