"""The client side of the API, for every surface.

attach       this terminal attached to a session's
attention    whether a person looks at this terminal
connection   a surface's calls and commands to its daemon
http         the REST client
live         the WebSocket client
places       the order of events, on one machine and at a hub
remote       the daemon of another machine
view_reader  the daemon's JSON as views"""
