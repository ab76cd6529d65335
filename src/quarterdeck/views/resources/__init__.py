"""Resources: a struct for each, with the function that builds it.

audit_view       the audit: who decided and changed what
card_view        one request with everything needed to decide
daemon_view      the settings in force, and what is wrong with the daemon
decision_view    the end of a request
event_view       an event of the feed
request_view     a request, as in lists
rule_view        rules, their trials, suggestions and verdicts
run_view         the runs and the actors of a session
runner_resource  the machine that each resource names
session_view     a session
stats_view       the daemon's numbers
"""
