"""Output and prompts of the commands.

export_formats   the log as NDJSON, CSV or Markdown
progress         a spinner and a bar for slow calls
prompts          questions and forms, answered by arguments or at the terminal
request_card     a request in a list, or as a whole card
time_args        durations and dates as arguments"""
