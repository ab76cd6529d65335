"""REST routes of the daemon's own resources.

counts          counts over time
decisions       decide requests
devices         pairing codes, signed-in devices
history         one event with its causes; the runs and actors of a session
queries         sessions, feed, requests, audit, and the daemon's numbers
rules           rules
runners         the machines that are served
sessions        commands to sessions
stop_sessions   several sessions at once, or all
tokens          tokens, sign-in links and the caller"""
