"""counts.db: the counts over time, in a file of their own beside the log.

counts_file    the file: its tables, its mark, and what happens to one that does not fit
event_counter  counts the events of the log into it
series_reader  reads series from it
calendar       the hours and days of this machine
"""
