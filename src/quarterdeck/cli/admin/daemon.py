"""Start, stop and check the daemon: up, daemon, stop, status."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal

from rich.text import Text

from quarterdeck import __version__
from quarterdeck.cli.common import (
    ConfigFile,
    Json,
    Output,
    cell,
    client,
    command,
    group,
    option,
    out,
    remote,
    settings,
    without_empty,
)
from quarterdeck.config.home import home_path, prepare_home
from quarterdeck.errors import Misused, NoDaemon, QuarterdeckError, Refused
from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.client.remote import RemoteDaemon
from quarterdeck.surfaces.text.labels import link_label
from quarterdeck.surfaces.text.waiting_elsewhere import waiting_elsewhere_texts, waits_elsewhere
from quarterdeck.system.process_table import alive
from quarterdeck.system.terminal_end import accept_endings
from quarterdeck.views.health import HealthCheck, findings, summary, version_findings

app = group("Start, stop and check the daemon.")


Colours = Literal["dark", "light", "contrast"]
START_SECONDS = 30.0
STOP_SECONDS = 10.0


@command(app)
def up(
    foreground: Annotated[bool, option("Run the daemon in the foreground, like `qd daemon`.", "--foreground")] = False,
    web: Annotated[bool, option("Open the web page in your browser, signed in.", "--web")] = False,
    plain: Annotated[bool, option("Plain lines instead of a full screen, for screen readers.", "--plain")] = False,
    theme: Annotated[Colours, option("Colours of the screen.")] = "dark",
    config: ConfigFile = None,
) -> None:
    """Start the daemon if needed, and open the desk."""
    if (named := remote()) is not None:
        if foreground or web or config:
            raise Misused("--url: the desk of another machine opens only here, in the terminal")
        accept_endings()
        client().call("GET", "/healthz")
        open_surface(home_path(), plain=plain or not sys.stdout.isatty(), theme=theme, remote=named)
        return
    if foreground:
        daemon(config)
        return
    accept_endings()
    opens = not web and (plain or (sys.stdin.isatty() and sys.stdout.isatty()))
    # The TUI takes a while to import; doing so while the daemon starts makes the desk appear sooner.
    found = running_client() or start_daemon(config, meanwhile=preload_tui if opens and not plain else None)
    out.print(f"Quarterdeck is running at {found.url}")
    for check in version_findings(str((_note() or {}).get("version", __version__)), __version__):
        out.print(_problem_line(check))
    if web:
        link = found.post("/api/v1/login-codes", {})["url"]
        if not webbrowser.open(link):
            out.print(f"Open this within a minute: {link}")
        return
    if opens:
        open_surface(home_path(), plain=plain, theme=theme, is_connected=partial(_is_connected, config))
        offer_service()


@command(app)
def daemon(
    config: ConfigFile = None,
    host: Annotated[str | None, option("Address to listen on; other machines need TLS.")] = None,
    tls_self_signed: Annotated[bool, option("Use a certificate of the local authority.", "--tls-self-signed")] = False,
    tls_cert: Annotated[Path | None, option("Certificate file, in PEM.", resolve_path=True)] = None,
    tls_key: Annotated[Path | None, option("Private key file of --tls-cert, in PEM.", resolve_path=True)] = None,
    quiet: Annotated[bool, option("Log only to log/daemon.log, not to stderr.", "--quiet")] = False,
) -> None:
    """Run the daemon in the foreground until Ctrl-C or SIGTERM."""
    from quarterdeck.daemon.app import run

    files = {"tls_cert": tls_cert and str(tls_cert), "tls_key": tls_key and str(tls_key)}
    runner = without_empty(host=host, tls_self_signed=tls_self_signed, **files)
    started = {"file": str(config) if config else None, "flags": {"runner": runner}}
    welcome = None if quiet or not sys.stdout.isatty() else _welcome
    run(home_path(), settings(config, runner=runner), _print_line, None if quiet else sys.stderr, started, welcome)


def _welcome(link: str) -> None:
    """Print how to sign in a browser, and the next two commands. Only for a terminal: the link is a credential."""
    _print_line(f"Sign in a browser, once and within 10 minutes: {link}")
    _print_line("Next, in another terminal:")
    _print_line(f"  {qd_command()} install   # connects Claude Code; --dry-run shows the change first")
    _print_line(f"  {qd_command()} up        # opens the desk")
    _print_line("Ctrl-C stops the daemon.")


def qd_command() -> str:
    """The command to type for `qd`: its name, or in a checkout whose environment is not active the way to it."""
    beside = Path(sys.argv[0]).parent / "qd"
    return str(beside) if shutil.which("qd") is None and beside.exists() else "qd"


def _print_line(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def offer_service() -> None:
    """Offer, once, to start Quarterdeck at login."""
    from quarterdeck.cli.admin.login_service import offer

    offer()


def _is_connected(config: Path | None) -> bool:
    """True if Claude Code is connected to this home. The module is imported when the desk is on screen."""
    from quarterdeck.cli.admin.install import is_connected

    return is_connected(config)


def open_surface(
    home: Path,
    *,
    plain: bool = False,
    theme: Colours = "dark",
    is_connected: Callable[[], bool] = bool,
    remote: RemoteDaemon | None = None,
) -> None:
    """Run the TUI or plain mode on the daemon of a home, or on that of another machine, until the user quits. The
    daemon keeps running."""
    if plain:
        from quarterdeck.surfaces.plain.terminal_io import run as run_plain

        run_plain(home, remote)
    else:
        from quarterdeck.surfaces.tui.app import run

        run(home, theme, is_connected, remote)


def preload_tui() -> None:
    """Import the TUI before it is needed."""
    import_module("quarterdeck.surfaces.tui.app")


def running_client() -> Client | None:
    """A client for the daemon of this home; None when it does not answer."""
    try:
        found = client()
        found.call("GET", "/healthz")
    except (NoDaemon, Refused):
        return None
    return found


def start_daemon(config: Path | None = None, meanwhile: Callable[[], None] | None = None) -> Client:
    """Start a daemon in the background and wait until it is ready, by the service manager where one is in charge of
    this home. `meanwhile` runs during the wait."""
    from quarterdeck.cli.admin.login_service import start

    home = home_path()
    settings(config)
    prepare_home(home)
    if config is None and start() and (found := running_client()) is not None:
        return found
    log = home / "log" / "start.log"
    command = daemon_command(config)
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "ab") as sink:
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
            raise QuarterdeckError(f"the daemon did not start: {last_line(log)} (see {log})")
        time.sleep(0.02)
    raise QuarterdeckError(f"the daemon is not ready after {START_SECONDS:.0f} s; see {log}")


def daemon_command(config: Path | None) -> list[str]:
    """The command that runs the daemon in the background."""
    return [sys.executable, "-m", "quarterdeck", "daemon", "--quiet", *(["--config", str(config)] if config else [])]


def _is_owned(home: Path) -> bool:
    """True when another daemon was started at the same time and holds the home; it will be ready soon."""
    from quarterdeck.daemon.setup.home_files import Home

    return Home(home).is_owned()


def last_line(log: Path) -> str:
    """The last line printed by a daemon that did not start."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].removeprefix("quarterdeck: ") if lines else "it printed nothing"


@command(app)
def stop() -> None:
    """Stop the daemon. Waiting agents show their own dialog again."""
    from quarterdeck.cli.admin.install import gates
    from quarterdeck.cli.admin.login_service import installed

    found = running_client()
    note = _note()
    if note is None:
        raise NoDaemon(f"Quarterdeck is not running (home: {home_path()})")
    if found is None:
        raise NoDaemon(
            f"no answer from {note['url']}; if pid {note['pid']} is Quarterdeck, stop it with: kill {note['pid']}"
        )
    ending = [s for s in found.sessions() if s.mode == "sdk" and s.ended_at is None]
    pid = int(note["pid"])
    os.kill(pid, signal.SIGINT)  # after SIGTERM, requests would wait for the next daemon
    deadline = time.monotonic() + STOP_SECONDS
    while alive(pid):
        if time.monotonic() > deadline:
            raise QuarterdeckError(
                f"pid {pid} is still running after {STOP_SECONDS:.0f} s; see {home_path() / 'log' / 'daemon.log'}"
            )
        time.sleep(0.02)
    out.print("Quarterdeck stopped.")
    if installed():
        out.print("It starts again when you log in; to change that: qd service remove", style="dim")
    if ending:
        ids = ", ".join(s.session_id[:8] for s in ending)
        out.print(f"SDK sessions ended with it ({ids}); to continue one: qd up, then qd resume SESSION", style="dim")
    if gates():
        out.print("The enforce gate is closed: no tool runs until qd up (or qd uninstall)", style="yellow")


def _note() -> Json | None:
    from quarterdeck.daemon.setup.home_files import Home

    return Home(home_path()).read_note()


@command(app)
def status() -> Output:
    """Show whether the daemon is running, and who is waiting."""
    from quarterdeck.cli.admin.install import gates

    api = client()
    health = api.call("GET", "/healthz")
    stats = api.get("/api/v1/stats")
    of_other = {"version": stats["version"], "url": api.url, "pid": stats["process"]["pid"]}
    gates_here = gates() if remote() is None else ()
    here = {"home": str(home_path()), **(_note() or {})} if remote() is None else of_other
    live = [s for s in api.sessions() if s.ended_at is None]
    view = {
        "running": True,
        "version": __version__,
        **here,
        "status": health["status"],
        "sessions": len(live),
        "pending": len(api.all("/api/v1/requests", status="pending")),
        "at_own_terminal": [s.session_id for s in live if waits_elsewhere(s)],
        "gates": [{"file": str(gate.file), "problems": list(gate.problems)} for gate in gates_here],
        "stats": stats,
    }
    return Output(view, _status_lines(view, waiting_elsewhere_texts(live)))


def _status_lines(view: Json, elsewhere: list[str]) -> Iterator[str | Text]:
    yield f"Quarterdeck {view['version']} is running at {view['url']} (pid {view['pid']}), {view['status']}"
    count = view["sessions"]
    yield f"{count} live session{'' if count == 1 else 's'} · {_need(view['pending'], elsewhere)}"
    yield from elsewhere
    for gate in view["gates"]:
        words = "; ".join(gate["problems"]) or f"the gate in {gate['file']} is intact"
        yield cell(f"enforce: {words}", "yellow" if gate["problems"] else "")
    if link := view["stats"].get("hub"):
        yield cell(f"{link_label(link)} ({link['url']})", "" if link["trouble"] is None else "yellow")
    yield from (cell(line, "dim") for line in summary(view["stats"]))
    for check in findings(view["stats"], __version__):
        if not check.ok and (view["status"] != "ok" or check.name in ("version", "hub")):
            yield _problem_line(check)


def _problem_line(check: HealthCheck) -> Text:
    return cell(f"! {check.says} → {check.fix}", "yellow")


def _need(pending: int, elsewhere: list[str]) -> str:
    if pending:
        return f"{pending} need{'s' if pending == 1 else ''} you"
    return "no requests are waiting" if elsewhere else "nothing is waiting for you"
