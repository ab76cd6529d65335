"""Output and prompts of the commands.

export_formats   the log as NDJSON, CSV or Markdown
playback         the pace of a played feed, and its keys
progress         a spinner and a bar for slow calls
prompts          questions and forms, answered by arguments or at the terminal
recorded_feed    an exported feed, checked and read
request_card     a request in a list, or as a whole card
session_folders  the folders of sessions, from their events
time_args        durations and dates as arguments"""
