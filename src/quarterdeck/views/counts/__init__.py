"""Counts over time: what is counted, how events are counted, and series of the counts. No I/O.

metrics  the table of what is counted, with its groups
tally    the counts of some events
series   the counts of a period as series, the largest first
series_view  the same as a resource
"""
