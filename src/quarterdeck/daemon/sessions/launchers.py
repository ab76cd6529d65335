"""In which ways sessions can be run here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quarterdeck.config import Config
from quarterdeck.drivers.claude.sdk_launcher import SdkWay
from quarterdeck.sessions.launcher import Ear, Way
from quarterdeck.sessions.pty.launcher import PtyWay
from quarterdeck.sessions.tmux.launcher import TmuxWay


def ways_of(config: Config, ear: Ear, folder: Path) -> Mapping[str, Way]:
    """Each mode with the way that runs it; `folder` is ours alone."""
    terminal = config.pty
    socket = Path(terminal.tmux_socket).expanduser() if terminal.tmux_socket else folder / "tmux"
    return {
        "sdk": SdkWay(ear, sources=config.sdk.setting_sources),
        "pty": PtyWay(ear, folder, shell=terminal.shell, cols=terminal.cols, rows=terminal.rows),
        "tmux": TmuxWay(
            ear,
            socket,
            shell=terminal.shell,
            cols=terminal.cols,
            rows=terminal.rows,
            scrollback_lines=terminal.scrollback_lines,
        ),
    }
