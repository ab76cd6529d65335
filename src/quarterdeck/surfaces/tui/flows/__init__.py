"""Flows: the steps after a key press.

card_details   fetches details and outcomes of requests, and terminals of sessions
decision_flow  opens the dialog a decision needs, then sends it
next_request   the `n` key: goes to the next one that waits
session_flow   opens the dialog a session command needs, then runs it
"""
