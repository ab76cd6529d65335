"""The link between a runner and a hub, as a protocol without I/O: clocks and random numbers come in as arguments.

actions      what a state machine asks the code around it to do
backoff      waits before a runner connects again
codec        one message as a frame, and back
heartbeat    pings, and when a connection is dead
holders      which connection holds the identity of each runner
hub_link     the hub's side: one connection of a runner
messages     every message in both directions
redaction    what leaves a machine, without secrets
runner_link  the runner's side: one link over all its connections"""
