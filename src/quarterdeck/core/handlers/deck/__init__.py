"""The key deck: what a press, a turn and an editor's report lead to.

presses        keys and buttons: arming, deciding, sending
text_delivery  a text on its way to a session, and its outcome
controls       the pages, the dial and the roller, and the terminals of editors
"""
