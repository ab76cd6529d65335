"""Each agent's wire format: how its messages are read and answered. No I/O.

base        the protocol of an agent
claude      Claude Code
demo_day    the scripts that `qd demo` plays
registry    the agents by name
scripted    an agent that plays a script
"""
