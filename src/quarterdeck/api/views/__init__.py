"""Resources as JSON: the shapes, and the functions that build them.

extension_changes  changes plugins and MCP servers, and records them
projection         views from structs with the same fields
prometheus         the stats in Prometheus' text format
request_card       one request with everything needed to decide
resources          sessions, events, requests and decisions
rules              rules, simulations and suggestions
stats              the daemon's numbers"""
