"""The backend's resources as views. The views themselves are pure and in `quarterdeck.views`.

extension_changes  changes plugins and MCP servers, and records them
prometheus         the stats in Prometheus' text format
request_card       one request with everything needed to decide
resources          sessions and requests
rules              bodies that describe rules
"""
