"""The process that keeps one agent of the SDK: standard library only, so that it starts fast and stays small.

agent_process   the agent below its supervisor, and its pipes
daemon_link     the daemon's connection
main            the program
relay           what is remembered between two daemons
sdk_host        the loop
sdk_frames      the letters of the frames on its socket
"""
