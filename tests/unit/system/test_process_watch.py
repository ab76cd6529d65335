"""Finding the agent's process, however early it is looked up."""

from __future__ import annotations

import asyncio
import shlex

from quarterdeck.sessions.host_program import HOSTS
from quarterdeck.system.process_watch import agent_below
from tests.support.session_listener import eventually


async def test_a_process_that_is_not_a_supervisor_yet_is_not_taken_for_the_agent() -> None:
    process = await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", 'read words; eval "exec $words"'),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert agent_below(process.pid) is None
    supervised = HOSTS.command("supervisor.py", "--", "/bin/sh", "-c", 'echo "$$"; read end')
    process.stdin.write(f"{shlex.join(supervised)}\n".encode())
    found = await eventually(lambda: agent_below(process.pid))
    assert found is not None
    assert found.pid == int(await process.stdout.readline())
    await process.communicate(b"end\n")
    assert agent_below(process.pid) is None
