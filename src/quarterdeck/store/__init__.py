"""The append-only log and the indexes beside it, in SQLite.

log           the one writer of events.db
reader        reads beside the writer
queries       what is asked of the log
search_index  search.db, the index of words, fields and times
counts        counts.db, the counts over time
hash_chain    binds every row to the one before
trim          deletes the oldest events
upgrade       events and requests of the previous version, completed
dump          the log as it is on disk, damaged or not
sqlite        connections and transactions
schema        tables and migrations
"""
