"""The one consumer of inputs: reduce, append, publish, perform.

loop           the queue and its batches
queued_input   an input in the queue
input_batch    a batch, decided and appended
effects        performs effects, by a table
envelopes      repeated envelopes
waiters        connections that wait for an answer
deadlines      timers and process files of held requests
housekeeper    index and snapshots
input_traits   questions about an input
offload        the worker thread for large inputs
retry          inputs kept while the log cannot be written
disk_reserve   free space, and the reserve for decisions
"""
