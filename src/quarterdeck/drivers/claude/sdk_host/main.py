"""The host of one agent of the SDK: a small process that keeps its pipes while daemons restart.

    python -I -S main.py < settings.json

Settings: session_id, started_at; name and folder of its files; argv, cwd; wait_seconds, after which a permission
request is denied with the words in `denial`; grace_seconds. It prints one line of JSON when the agent runs.

Standard library only. It writes a record `<name>.json` into its folder with its own process and the agent's, and
listens on the socket `<name>.s` there, for its own user only; the frames are in sdk_frames.py. Between the host and the
agent runs a supervisor: when either of the two dies, the other ends everything that the agent started. The host exits
when a daemon has acknowledged the end of the agent, or `grace_seconds` later.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    sys.path.append(os.path.abspath(__file__).rsplit("/quarterdeck/", 1)[0])

from quarterdeck.drivers.claude.sdk_host.agent_process import AgentProcess
from quarterdeck.drivers.claude.sdk_host.sdk_host import SdkHost
from quarterdeck.sessions.host.host_process import serve

if __name__ == "__main__":
    serve(lambda settings, listener: SdkHost(settings, AgentProcess(settings), listener))
