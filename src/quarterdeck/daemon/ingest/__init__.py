"""Hook calls, from the Unix socket or HTTP to the loop."""
