"""The link between a runner and a hub, as a protocol without I/O: clocks and random numbers come in as arguments.

backoff      waits before a runner connects again
codec        one message as a frame, and back
heartbeat    pings, and when a connection is dead
messages     every message in both directions"""
