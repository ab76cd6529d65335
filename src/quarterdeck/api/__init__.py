"""The API: REST and WebSocket, for every surface.

app         the REST application: every route and its scope
backend     the protocols of what is served: a daemon or a hub
endpoints   the endpoints of REST
operations  every operation with its scope and route, as plain data
openapi     the OpenAPI document and the reference page
pages       the web page and the sign-in link
http        authentication, guard and errors
live        the WebSocket
routes      routes of sessions, requests, rules and tokens
views       resources as JSON, and stats for Prometheus
workspace   routes of projects, worktrees, plugins and MCP servers"""
