"""The daemon of one machine: takes hook calls, decides, records and answers.

app          assembles the parts, runs them and stops them in order
link         the runner's side of a hub
backend      the API's backend
sessions     launches owned sessions, watches processes, follows transcripts
maintenance  search index, retention and integrity check of the store
setup        home files, settings, certificates, listeners, rebuilding the state
ingest       hook calls from the Unix socket and HTTP
notify       notifications to a person
loop         the one consumer of inputs
telemetry    counters, logs, spans
"""
