"""The `deck.yaml` of a new deck, which also counts while there is no file."""

from __future__ import annotations

TEMPLATE = """\
# The keys of your deck. Quarterdeck reads this file again when it changes; to check it: qd deck check

# Each page has nine keys: a prompt, a gate or a decision by name, or ~ for none.
pages:
  - name: Decide
    slots:
      - decision: allow
      - decision: deny
      - decision: next
      - decision: always       # press it before Allow, to make a rule of it
      - prompt: continue
      - decision: interrupt
      - decision: answer_1     # the first option of a question
      - decision: answer_2
      - decision: answer_3
  - name: Prompts
    slots:
      - prompt: continue
      - prompt: tests
      - prompt: review
      - prompt: explain
      - prompt: commit
      - prompt: compact
      - ~
      - ~
      - gate: stop

# A key arms a prompt; Enter sends it. With the style prefill it is typed at once, for you to look at.
prompts:
  continue:
    label: Continue
    fallback_text: Continue.
  tests:
    label: Run tests
    fallback_text: Run the tests, and fix what fails.
  review:
    label: Review
    claude_command: /review
    fallback_text: Review the changes that are not committed.
  explain:
    label: Explain
    sublabel: last change
    fallback_text: Explain the last change in five sentences.
  commit:
    label: Commit
    fallback_text: Commit the work with a clear message.
    style: prefill
  compact:
    label: Compact
    claude_command: /compact

# A gate is a key with an action and your own words.
gates:
  stop:
    label: Stop
    sublabel: this turn
    action: interrupt

# os_scroll leaves the dial to the system; vscode_terminal_scroll scrolls the selected terminal of the editor.
dial:
  mode: os_scroll

# What Esc does while a prompt is armed: cancel_only, or cancel_and_passthrough to interrupt the session as well.
defaults:
  style: queue
  esc_when_pending: cancel_only

# Pages of their own in a project:
# projects:
#   /home/you/shop:
#     pages:
#       - name: Shop
#         slots: [{prompt: tests}, ~, ~, ~, ~, ~, {decision: allow}, {decision: deny}, {decision: next}]
"""
