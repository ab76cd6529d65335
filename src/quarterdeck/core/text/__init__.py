"""Text made from data: pure functions that every surface shares.

amounts          money, tokens, counts, and text cut to a width
audit            rows of the audit, and credentials removed from text
decision_words   the words of a decision
feed             the feed as rows
durations        lengths of time in words: as typed and as shown
file_diff        the change an edit makes, as a unified diff
forms            forms of MCP servers: fields and validation
notifications    the text of a notification
sanitize         makes control and hidden characters visible
search_terms     the searchable words of events and queries
session_summary  the totals of a session
titles           title, body and display hints of an event
"""
