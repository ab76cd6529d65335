"""The operating system.

inet_diag       one end of a TCP connection, asked of the kernel
private_files   files that hold a secret
process_table   the process table
process_watch   watching and signalling a process
run_program     running a program to its end
safe_open       opening files at untrusted paths
service         Quarterdeck as a service of the user
socket_owner    the process at the other end of a connection
terminal_end    the end of a program on a terminal: by a signal, or with the terminal
terminal_group  the terminal that a process has in its hands
worker_thread   a thread for work that may hang
"""
