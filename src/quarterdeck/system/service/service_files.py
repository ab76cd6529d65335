"""The service as data, and as the file of each service manager. Pure, and without a secret: only the home and PATH."""

from __future__ import annotations

import plistlib
import re
from collections.abc import Mapping
from pathlib import Path
from xml.parsers.expat import ExpatError

from msgspec import Struct

from quarterdeck.errors import Refused

UNIT = "quarterdeck.service"
LABEL = "quarterdeck.daemon"
HOME_VARIABLE = "QUARTERDECK_HOME"
MARK = "Written by `qd service install`; `qd service remove` deletes it."
RESTART_SECONDS = 2
STOP_SECONDS = 20
"""The daemon takes two seconds to stop; a slow disk may need more."""

STARTS = 5
START_WINDOW_SECONDS = 120
"""A daemon that cannot start is not started forever: after so many starts in this time systemd gives up."""

_HOME_IN_UNIT = re.compile(rf'^Environment="{HOME_VARIABLE}=((?:[^"\\]|\\.)*)"$', re.MULTILINE)


class ServiceDefinition(Struct, frozen=True, kw_only=True):
    """How the daemon is started as a service. `log` gets what it prints before it has opened its own log."""

    command: tuple[str, ...]
    home: Path
    path: str
    log: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """All that the service gets beside the service manager's own environment."""
        return {HOME_VARIABLE: str(self.home), "PATH": self.path}


def absolute_folders(path: str) -> str:
    """A PATH without relative folders and repetitions: a service has no folder of its own to look in."""
    folders = [folder for folder in path.split(":") if folder.startswith("/")]
    return ":".join(dict.fromkeys(folders))


def systemd_unit(service: ServiceDefinition) -> str:
    """The unit file. `KillMode=process`: a stop or restart ends the daemon only, and agents and their terminals go on.
    `OOMPolicy=continue`: an agent that runs out of memory does not take the daemon with it."""
    _check_printable(service)
    variables = "\n".join(f"Environment={_quoted(f'{name}={value}')}" for name, value in service.environment.items())
    program, *arguments = service.command
    words = [_quoted(program), *(_quoted(word).replace("$", "$$") for word in arguments)]
    return f"""\
# {MARK}
[Unit]
Description=Quarterdeck, mission control for coding agents
StartLimitIntervalSec={START_WINDOW_SECONDS}
StartLimitBurst={STARTS}

[Service]
Type=exec
ExecStart={" ".join(words)}
{variables}
WorkingDirectory=/
UMask=0077
KillMode=process
OOMPolicy=continue
Restart=on-failure
RestartSec={RESTART_SECONDS}
TimeoutStopSec={STOP_SECONDS}
StandardOutput=null
StandardError=append:{str(service.log).replace("%", "%%")}

[Install]
WantedBy=default.target
"""


def launchd_agent(service: ServiceDefinition) -> str:
    """The property list. `AbandonProcessGroup`: a stop or restart ends the daemon only."""
    _check_printable(service)
    agent = {
        "Label": LABEL,
        "ProgramArguments": list(service.command),
        "EnvironmentVariables": dict(service.environment),
        "WorkingDirectory": "/",
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "AbandonProcessGroup": True,
        "ThrottleInterval": RESTART_SECONDS,
        "ExitTimeOut": STOP_SECONDS,
        "Umask": 0o077,
        "StandardOutPath": "/dev/null",
        "StandardErrorPath": str(service.log),
    }
    head, newline, rest = plistlib.dumps(agent, sort_keys=False).decode().partition("\n")
    return f"{head}{newline}<!-- {MARK} -->\n{rest}"


def is_own_file(text: str) -> bool:
    """True for a file that an install wrote."""
    return MARK in text


def home_in_unit(text: str) -> str:
    """The home that a unit file names; empty when it names none."""
    found = _HOME_IN_UNIT.search(text)
    return re.sub(r"\\(.)", r"\1", found[1]).replace("%%", "%") if found else ""


def home_in_agent(text: str) -> str:
    """The home that a property list names; empty when it names none."""
    try:
        content = plistlib.loads(text.encode())
        return str(content["EnvironmentVariables"][HOME_VARIABLE])
    except (ExpatError, ValueError, KeyError, TypeError):
        return ""


def _quoted(word: str) -> str:
    """One word as systemd reads it: quoted, and without its specifiers."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _check_printable(service: ServiceDefinition) -> None:
    for word in (*service.command, *service.environment.values(), str(service.log)):
        if not word.isprintable():
            raise Refused(f"{word!r}: has characters that a service file cannot hold; choose another path")
