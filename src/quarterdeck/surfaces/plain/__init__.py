"""Plain mode: the terminal surface in text lines, for screen readers and pipes.

announcements    new requests, outcomes and connection problems, without being asked
answer           questions and forms, answered one by one
app              the app: follows the daemon, runs typed commands
command_help     the commands and their help
decide           commands that decide requests
feed             events as sentences
remember         decide with a rule
reports          the feed, rules, the audit, what was used, the daemon's health
request_numbers  numbers of requests
sessions         session commands
start_session    start a session
terminal_io      standard input and output
"""
