"""Hook calls, from the Unix socket or HTTP to the loop.

attendance   whether a person is there to decide
intake       one hook call, independent of its transport
http_hooks   `POST /hook`
unix_socket  the forwarder's framing and NDJSON envelopes
symlinks     real paths of folders and files
"""
