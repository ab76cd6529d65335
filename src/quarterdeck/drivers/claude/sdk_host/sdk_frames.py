"""The letters of the frames between an agent's host and the daemon; frames are those of `sessions.host.frames`.

To the host: ATTACH (send me everything that was not taken), WRITE (a line for the agent), PROMPT (JSON id and line: a
prompt, sent once the turn before it has ended), CLEAR (forget the prompts that were not sent), TAKEN (JSON position:
all lines up to it are on record), END (end the agent), ACKNOWLEDGED (the end was received, the host may exit). From the
host: STATE (JSON, at first and at the end), LINE (eight bytes position, then a line of the agent; position zero: a line
that is not sent again), SENT (eight bytes position, then the id of a prompt that the agent has now).

Agents outlive the daemon, so a new daemon speaks to hosts of an older version: letters and JSON keys must not change.
Standard library only: the host is a small process.
"""

from __future__ import annotations

import struct

from quarterdeck.sessions.host.frames import frame

ATTACH, WRITE, PROMPT, CLEAR, TAKEN, END, ACKNOWLEDGED = b"A", b"W", b"P", b"C", b"K", b"E", b"F"
STATE, LINE, SENT = b"S", b"L", b"G"
TO_HOST = ATTACH + WRITE + PROMPT + CLEAR + TAKEN + END + ACKNOWLEDGED
FROM_HOST = STATE + LINE + SENT
POSITION = struct.Struct(">Q")
MAX_LINE = 32 * 1024 * 1024
"""Longer than any line that the daemon reads: that has a limit of its own, and says what broke it."""
MAX_BODY = MAX_LINE + 64 * 1024
UNNUMBERED = 0


def numbered_frame(letter: bytes, position: int, body: bytes) -> bytes:
    return frame(letter, POSITION.pack(position) + body)


def read_numbered(body: bytes) -> tuple[int, bytes]:
    return POSITION.unpack_from(body)[0], body[POSITION.size :]
