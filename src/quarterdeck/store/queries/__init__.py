"""Queries of the log.

feed_query      the filters of the feed, and its pages
feed_pages      pages of the feed
event_scan      the rows that pass the filters
field_keys      the keys under which the index files an event
event_lookup    one event, its causes and its effects
actor_activity  the activity of each actor of a session
audit_query     rows of the audit
"""
