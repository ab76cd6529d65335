"""The rows of the feed: joining, folding, filtering, searching. No I/O.

rows             all rows of a window of the log
row_joins        joins the events of a row
feed_row         one row as it is drawn, and its events
block            rows stored in columns
window           the line on which each row is
subagents        the sub-agents under which rows fold
summary          the part of an event that a row keeps
row_lines        a row as styled lines
preview          the text below a row's line
repeats          stops that repeat the agent's last message
filter           the filter by kind, tool, actor and level
jump             tests for rows to jump to
"""
