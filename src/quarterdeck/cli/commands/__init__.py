"""Commands of daily work.

decisions    allow, deny, answer, pass
deck         deck
event_feed   feed
mcp          mcp
plugins      plugins
projects     projects
queries      sessions, requests
rule_files   rules export, rules import
rules        rules
sessions     run, send, interrupt, end, resume, fork, takeover, switch, attach, give-back
usage        usage
worktrees    worktrees"""
