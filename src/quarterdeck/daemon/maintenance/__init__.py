"""Background work on the store.

service          starts and stops the work below
log_follower     keeps the search index and the counts up to date
retention        trims old events by age and size
integrity_check  checks the whole log after an unclean stop
"""
