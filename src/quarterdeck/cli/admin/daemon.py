"""Starting, stopping and asking after the daemon: up, daemon, stop, status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from quarterdeck import __version__
from quarterdeck.cli.common import AsJson, ConfigFile, cell, client, out, plainly, print_json, settings
from quarterdeck.config import home_path, prepare_home
from quarterdeck.errors import NoDaemon, QuarterdeckError, Refused
from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.text.health import findings, summary
from quarterdeck.surfaces.text.waiting_elsewhere import elsewhere_lines, waits_elsewhere
from quarterdeck.system.process_table import alive


class Colours(StrEnum):
    DARK = "dark"
    LIGHT = "light"
    CONTRAST = "contrast"


START_SECONDS = 30.0
STOP_SECONDS = 10.0


@plainly
def daemon(
    config: ConfigFile = None,
    host: Annotated[str | None, typer.Option(help="Listen on this address; beyond this machine it needs TLS.")] = None,
    tls_self_signed: Annotated[bool, typer.Option("--tls-self-signed", help="With a certificate of our own.")] = False,
    tls_cert: Annotated[Path | None, typer.Option(help="With this certificate, in PEM.", resolve_path=True)] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The key of --tls-cert.", resolve_path=True)] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log only to log/daemon.log, not to stderr.")] = False,
) -> None:
    """Run the daemon in the foreground until Ctrl-C or SIGTERM."""
    from quarterdeck.daemon.app import run

    flags = {"host": host, "tls_self_signed": tls_self_signed or None}
    files = {"tls_cert": tls_cert, "tls_key": tls_key}
    given = {name: str(value) for name, value in files.items() if value is not None}
    runner = {**{name: value for name, value in flags.items() if value is not None}, **given}
    started = {"file": str(config) if config else None, "flags": {"runner": runner}}
    run(home_path(), settings(config, runner=runner), _say, None if quiet else sys.stderr, started)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@plainly
def up(
    foreground: Annotated[bool, typer.Option("--foreground", help="Stay in the foreground, like `daemon`.")] = False,
    web: Annotated[bool, typer.Option("--web", help="Open the page in a browser, signed in.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a screen, for a screen reader.")] = False,
    theme: Annotated[Colours, typer.Option(help="The colours of the screen.")] = Colours.DARK,
    config: ConfigFile = None,
) -> None:
    """Start the daemon if none runs, then open the desk here."""
    if foreground:
        daemon(config)
        return
    opens = not web and (plain or (sys.stdin.isatty() and sys.stdout.isatty()))
    found = running_client() or start_daemon(config, meanwhile=read_desk if opens and not plain else None)
    out.print(f"Quarterdeck runs at {found.url}")
    if web:
        link = found.post("/api/v1/login-codes", {})["url"]
        if not webbrowser.open(link):
            out.print(f"Open this within a minute: {link}")
        return
    if opens:
        open_desk(home_path(), plain=plain, theme=theme)


def open_desk(home: Path, *, plain: bool = False, theme: Colours = Colours.DARK) -> None:
    """The terminal face on the daemon of a home, until the person leaves; the daemon stays."""
    if plain:
        from quarterdeck.surfaces.plain import run as run_plain

        run_plain(home)
    else:
        from quarterdeck.surfaces.tui.app import run

        run(home, theme.value)


def read_desk() -> None:
    """Read the terminal face before it is needed."""
    import_module("quarterdeck.surfaces.tui.app")


def running_client() -> Client | None:
    """The daemon of this home, if it answers."""
    try:
        found = client()
        found.call("GET", "/healthz")
    except (NoDaemon, Refused):
        return None
    return found


def start_daemon(config: Path | None = None, meanwhile: Callable[[], None] | None = None) -> Client:
    """Start a daemon that outlives us, and wait until it is ready; what is to be done `meanwhile` costs no time."""
    home = home_path()
    settings(config)
    prepare_home(home)
    said = home / "log" / "start.log"
    command = [sys.executable, "-m", "quarterdeck", "daemon", "--quiet", *(["--config", str(config)] if config else [])]
    with os.fdopen(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "ab") as sink:
        process = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, start_new_session=True, cwd="/"
        )
    deadline = time.monotonic() + START_SECONDS
    if meanwhile is not None:
        meanwhile()
    while time.monotonic() < deadline:
        found = running_client()
        if found is not None:
            return found
        if process.poll() is not None and not _is_owned(home):
            raise QuarterdeckError(f"the daemon did not start: {_last_line(said)} (see {said})")
        time.sleep(0.02)
    raise QuarterdeckError(f"the daemon is not ready after {START_SECONDS:.0f} s; see {said}")


def _is_owned(home: Path) -> bool:
    """Whether somebody else's daemon was quicker, and will be ready soon."""
    from quarterdeck.daemon.setup.home import Home

    return Home(home).is_owned()


def _last_line(said: Path) -> str:
    lines = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].removeprefix("quarterdeck: ") if lines else "it said nothing"


@plainly
def stop() -> None:
    """Stop the daemon; agents that wait go back to their own dialog."""
    found = running_client()
    note = _note()
    if note is None:
        raise NoDaemon(f"no Quarterdeck runs in {home_path()}")
    if found is None:
        raise NoDaemon(f"nothing answers at {note['url']}; if pid {note['pid']} is Quarterdeck, stop it with kill")
    ending = [s for s in found.all("/api/v1/sessions") if s["mode"] == "sdk" and s["ended_at"] is None]
    pid = int(note["pid"])
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while alive(pid):
        if time.monotonic() > deadline:
            raise QuarterdeckError(f"pid {pid} still runs after {STOP_SECONDS:.0f} s; see its log")
        time.sleep(0.02)
    out.print("Quarterdeck stopped.")
    if ending:
        ids = ", ".join(s["session_id"][:8] for s in ending)
        out.print(f"Sessions of the SDK have ended with it ({ids}); after qd up: qd resume SESSION", style="dim")
    if (home_path() / "claude-plugin").exists():
        out.print(
            "Connected sessions go on, and note at each turn that it is away, until: qd up (or: qd uninstall)",
            style="dim",
        )


def _note() -> dict[str, Any] | None:
    from quarterdeck.daemon.setup.home import Home

    return Home(home_path()).read_note()


@plainly
def status(json: AsJson = False) -> None:
    """Say whether the daemon runs, and who waits."""
    found = client()
    health = found.call("GET", "/healthz")
    sessions = found.all("/api/v1/sessions")
    pending = found.all("/api/v1/requests", status="pending")
    stats = found.get("/api/v1/stats")
    live = [s for s in sessions if s["ended_at"] is None]
    view = {
        "running": True,
        "version": __version__,
        "home": str(home_path()),
        **(_note() or {}),
        "status": health["status"],
        "sessions": len(live),
        "pending": len(pending),
        "at_own_terminal": [s["session_id"] for s in live if waits_elsewhere(s)],
        "stats": stats,
    }
    if json:
        print_json(view)
        return
    elsewhere = elsewhere_lines(live)
    out.print(f"Quarterdeck {view['version']} runs at {view['url']} (pid {view['pid']}), {health['status']}")
    out.print(f"{len(live)} live session{'' if len(live) == 1 else 's'} · {_need(len(pending), elsewhere)}")
    for line in elsewhere:
        out.print(cell(line))
    for line in summary(stats):
        out.print(cell(line, "dim"))
    for check in findings(stats, __version__) if health["status"] != "ok" else ():
        if not check.ok:
            out.print(cell(f"! {check.says} → {check.fix}", "yellow"))


def _need(pending: int, elsewhere: list[str]) -> str:
    if pending:
        return f"{pending} need{'s' if pending == 1 else ''} you"
    return "no request waits for you" if elsewhere else "nobody waits for you"


def register(cli: typer.Typer) -> None:
    for command in (up, daemon, stop, status):
        cli.command()(command)
