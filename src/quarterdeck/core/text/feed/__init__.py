"""The feed as rows: which events are one row, its place, and its words, for every surface.

row_keys    the keys that join events into one row
row_order   the place of a row: the agent's text before the calls it announces
event_rows  events folded into rows, all at once
row_words   a row in one line
row_stream  rows one after the other, for surfaces that only print
"""
