"""The store of the hub, in SQLite: what machines sent, who may connect, and the hub's own record.

hub_schema     the tables
commit_queue   the one writer: changes that come together, in one transaction
stored_events  events, each once and in order; conflicts
machine_views  sessions and requests as their machines last sent them
enrolments     enrolled credentials, machines and their epochs
records        commands with results, and the hub's own audit
token_rows     tokens and signed-in devices
rule_rows      rules of the hub
hub_reader     reads beside the writer
"""
