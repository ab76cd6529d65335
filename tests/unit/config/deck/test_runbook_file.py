"""The file of the Runbook prototype becomes a deck.yaml."""

from __future__ import annotations

from quarterdeck.config.deck.deck_template import TEMPLATE
from quarterdeck.config.deck.runbook_file import import_runbook
from quarterdeck.core.engine.deck_layout import KeyAction

RUNBOOK = """
defaults: {arm_style: prefill}
esc_when_pending: cancel_and_passthrough
dial: {mode: vscode_terminal_scroll}
prompts:
  prep_pr: {label: Prep PR, sublabel: draft, arm_style: queue, claude_command: /prep-pr, fallback_text: Prepare it.}
  fix: {label: Fix, claude_command: /fix}
gates:
  yes: {label: "Yes", action: approve}
pages:
  - title: Main
    slots:
      - prompt_id: prep_pr
      - prompt_id: fix
      - gate: "yes"
      - {}
      - {}
      - {}
      - {}
      - {}
      - {}
"""


def test_the_prototypes_file_is_converted() -> None:
    made = import_runbook(RUNBOOK.replace("  yes:", '  "yes":'), "runbook.yaml")
    layout = made.reading.layout
    assert layout is not None, made.reading.problems
    assert (layout.prompts["prep_pr"].style, layout.prompts["fix"].style) == ("queue", "prefill")
    assert layout.gates["yes"].action is KeyAction.ALLOW
    assert (layout.esc_when_pending, layout.dial_mode) == ("cancel_and_passthrough", "vscode_terminal_scroll")
    assert (layout.pages[0].name, layout.pages[0].slots[0].prompt) == ("Main", "prep_pr")


def test_a_list_of_prompts_and_bare_slots_are_read_too() -> None:
    prompts = "prompts: [{id: a, label: A, claude_command: /a}]"
    made = import_runbook(f"pages: [[a, empty, '', ~, ~, ~, ~, ~, ~]]\n{prompts}", "r")
    assert made.reading.layout is not None
    assert made.reading.layout.pages[0].slots[0].prompt == "a"


def test_a_file_of_quarterdeck_stays_as_it_is() -> None:
    assert import_runbook(TEMPLATE, "deck.yaml").text == TEMPLATE


def test_what_cannot_be_converted_says_why() -> None:
    assert import_runbook("", "r").reading.problems == ["r: is empty"]
    assert import_runbook("- 1", "r").reading.problems == ["r: must hold pages and prompts"]
    [problem] = import_runbook("pages: [{slots: [~]}]", "r").reading.problems
    assert "must have 9 keys, has 1" in problem
