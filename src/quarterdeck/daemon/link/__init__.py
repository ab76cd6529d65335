"""The runner's side of a hub: one connection, and what goes over it.

command_ledger   the commands that began, each at most once
grants           what a hub may do here, by operation
hub_client       joins and leaves the hub, connects, comes back after a failure
hub_connection   one connection to the hub
hub_rules        the rules of the hub, kept and enforced here
hub_socket       the WebSocket, and why it could not be opened
in_process_call  one call of the API without a connection
link_report      the state of the link, for every surface
outgoing         what leaves: events, views, and how much of them
remote_calls     commands and queries of the hub
stream_sender    terminals and live text that the hub has opened"""
