"""Numbers, logs and spans of the daemon itself.

counters        counters and histograms
escaped_errors  errors at the edge, logged with their input
logs            log file and stderr
log_redaction   keeps secrets and agents' input out of logs
spans           events as spans
otel_export     sends spans through OpenTelemetry
"""
