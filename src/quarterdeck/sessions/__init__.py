"""Running agents: the interface of every launcher, and the terminals that agents run in.

environment    the environment of an agent
launcher       the launcher protocols
host           the process that keeps one terminal
host_program   the command lines that start it
pty            sessions in the daemon's own terminals
tmux           sessions in tmux
"""
