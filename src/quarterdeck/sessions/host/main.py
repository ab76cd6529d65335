"""The host of one terminal: a small process that keeps its screen and its program while daemons restart.

    python -I -S main.py < settings.json

Settings: session_id, started_at; name and folder of its files; argv, cwd, cols, rows; shell (true for a shell);
status_folder (of the agent's own process files); grace_seconds. It prints one line of JSON when the program runs.

Standard library only. It writes a record `<name>.json` into its folder with its own process and the program's, and
listens on the socket `<name>.s` there, for its own user only; the frames are in frames.py. The terminal's output goes
into a replay buffer as fast as it comes; each viewer has a position in it, and one that falls too far behind gets the
whole screen again. Between the host and the program runs a supervisor (supervisor.py): when either of the two dies, the
other ends everything that the program started. The host exits when a client has acknowledged the end of the program, or
`grace_seconds` later.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    sys.path.append(os.path.abspath(__file__).rsplit("/quarterdeck/", 1)[0])

from quarterdeck.sessions.host.host_process import serve
from quarterdeck.sessions.host.terminal import Terminal
from quarterdeck.sessions.host.terminal_host import TerminalHost

if __name__ == "__main__":
    serve(lambda settings, listener: TerminalHost(settings, Terminal(settings), listener))
