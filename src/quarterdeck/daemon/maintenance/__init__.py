"""Background work on the store.

service          starts and stops the work below
search_indexer   keeps the search index up to date
retention        trims old events by age and size
integrity_check  checks the whole log after an unclean stop
"""
