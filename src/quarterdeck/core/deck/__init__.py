"""The key deck: what it shows and what its keys would do, from the state and `deck.yaml` alone.

shown_session     the session that a deck shows, and what is known of its state
shown_request     who waits, the request that a deck shows, and what its decision keys would decide
routes            the way of a text to the shown session
keys              the nine keys of a page, each with its revision
render_model      everything that a deck shows
"""
