"""The launchers of this machine, one for each mode of session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quarterdeck.config.settings import Config
from quarterdeck.drivers.registry import Drivers
from quarterdeck.sessions.launcher import Launcher, SessionListener
from quarterdeck.sessions.pty.launcher import PtyLauncher
from quarterdeck.sessions.tmux.launcher import TmuxLauncher


def launchers_of(config: Config, drivers: Drivers, listener: SessionListener, folder: Path) -> Mapping[str, Launcher]:
    """Each mode with its launcher. Only this user can read `folder`."""
    terminal = config.pty
    sdk = drivers.of().sdk_launcher(listener, folder)
    return {
        **({"sdk": sdk} if sdk else {}),
        "pty": PtyLauncher(listener, folder, shell=terminal.shell, cols=terminal.cols, rows=terminal.rows),
        "tmux": TmuxLauncher(
            listener,
            tmux_socket_of(config, folder),
            shell=terminal.shell,
            cols=terminal.cols,
            rows=terminal.rows,
            scrollback_lines=terminal.scrollback_lines,
        ),
    }


def tmux_socket_of(config: Config, folder: Path) -> Path:
    """The socket of the tmux server that owned sessions run in."""
    named = config.pty.tmux_socket
    return Path(named).expanduser() if named else folder / "tmux"
