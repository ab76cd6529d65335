"""The runner's side of a hub: one connection, and what goes over it.

grants           what a hub may do here, by operation
hub_client       joins and leaves the hub, connects, comes back after a failure
hub_connection   one connection to the hub
hub_rules        the rules of the hub, kept and enforced here
hub_socket       the WebSocket, and why it could not be opened
in_process_call  one call of the API without a connection
link_report      the state of the link, for every surface
outgoing_events  the rows of the log as they leave
outgoing_views   sessions and requests as they leave
remote_calls     commands and queries of the hub
share_policy     how much leaves, by session, request and folder
stream_sender    terminals and live text that the hub has opened"""
