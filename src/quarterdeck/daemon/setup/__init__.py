"""Starting the daemon.

joined_hub     the hub of this machine, and what each folder shares with it
home_files     lock, tokens, port and daemon.json of the home
core_settings  the settings as the core reads them
preflight      settings that disagree, files that cannot be used
client_tokens  the tokens that clients show
servers        the HTTP servers of all listeners
listeners      addresses, ports and certificates to serve on
http_server    uvicorn, configured
certificates   the user's TLS certificate, or one of the local authority
state_rebuild  the state after a start: the last snapshot, and every later event
"""
