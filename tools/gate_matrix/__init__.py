"""What becomes of calls and requests of the real Claude Code while Quarterdeck fails: `python -m tools.gate_matrix`.

faults    what goes wrong, and how it is put right again
sessions  the four kinds of sessions that a trial works with
scene     one daemon with its sessions, and what each of them does in one trial
results   the table
"""
