"""The data model: state, events, requests, rules.

state               sessions, requests, rules, tokens: everything `reduce` knows
events              a feed event, and the table of its kinds
event_data          the data of each kind of event
runtime_event       one hook call of an agent, free of its protocol
payload             readers for an agent's payload, and digests
decisions           what can be decided, and by whom
rule                a rule, and the verdict of several
tool_kinds          what a tool does, whatever an agent calls it
tool_use            what a rule is matched against
agent_state         the state of an agent, and what changes it
unattended_policy   what happens to unanswered requests
risk_levels         a risk, and the levels of risk
"""
