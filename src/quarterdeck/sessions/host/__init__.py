"""The process that keeps one terminal: standard library only, so that it starts fast and stays small.

frames          the frames on its socket
host_process    settings, socket and record of every host
input_line      unsent text at the prompt
main            the program
output_reader   reading of output
peer            one client
replay_buffer   the last output
status_file     the agent's own status
supervisor      ends a program with its descendants
terminal        the pseudo-terminal
terminal_host   the loop
typist          typing of a prompt
"""
