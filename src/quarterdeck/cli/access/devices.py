"""Phones, editors and key decks: pair, devices."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator
from typing import Annotated, Literal
from urllib.parse import quote, urlsplit

from rich.text import Text

from quarterdeck.cli.common import (
    Columns,
    Json,
    Output,
    argument,
    cell,
    client,
    command,
    default_command,
    full_id,
    group,
    option,
    out,
    remote,
    table,
    time_or_never,
)
from quarterdeck.config.home import home_path
from quarterdeck.daemon.setup.home_files import Home
from quarterdeck.errors import Refused
from quarterdeck.surfaces.text.labels import ago

Purpose = Literal["page", "phone", "editor", "deck"]
POLL_SECONDS = 1.0
UNREACHABLE = """No phone can reach this daemon yet: it listens on this machine only. Choose one:
  a tailnet or reverse proxy   runner.public_urls: [https://NAME] and runner.proxies: [127.0.0.1] in config.yaml
  this network, with TLS       qd tls shows how
  a browser of this machine    qd pair --for page
Then: qd stop, qd up"""

app = group("Sign in phones, editors and key decks.")
devices = group("List and sign out devices; give one more rights.", name="devices")
app.add_typer(devices)


@command(app)
def pair(
    purpose: Annotated[Purpose, option("What to sign in.", "--for")] = "phone",
    no_wait: Annotated[bool, option("Do not wait until the device has signed in.", "--no-wait")] = False,
) -> Output:
    """Show a QR code and a link that sign in a device, once. A phone may watch and decide."""
    api = client()
    public = api.url if remote() else (Home(home_path()).read_note() or {}).get("public_url")
    if purpose == "phone" and public is None:
        raise Refused(UNREACHABLE)
    known = {one["device_id"] for one in api.get("/api/v1/devices")["devices"]}
    made = api.post("/api/v1/pairing-codes", {"purpose": purpose})
    address = public if public and purpose != "page" else api.url
    if made["url"]:
        made["url"] = f"{address}/login?{urlsplit(made['url']).query}"
    made["address"] = address
    waits = not no_wait and sys.stdout.isatty()
    return Output(made, _shown(made, purpose, known, waits=waits))


def _shown(made: Json, purpose: str, known: set[str], *, waits: bool) -> Iterator[str | Text]:
    """The lines for a person, who may then watch the device sign in."""
    minutes = made["expires_seconds"] / 60
    if made["url"]:
        yield from qr_lines(made["url"])
        yield made["url"]
        yield cell(f"Open this link there, or scan the code. It works once, within {minutes:g} min.", "dim")
    if purpose in ("editor", "deck"):
        yield f"code {made['code']}"
        yield cell(f"Or send it there: POST {made['address']}/api/v1/pair {{code, name}}", "dim")
    yield cell(f"It may then: {', '.join(made['scopes'])}", "dim")
    if waits:
        out.print("Waiting for the device; Ctrl-C leaves the code valid.", style="dim")
        yield _wait(known, purpose, made["expires_seconds"])


def _wait(known: set[str], purpose: str, seconds: float) -> str:
    """Wait until a new device has signed in; its name, or that none came."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for one in client().get("/api/v1/devices")["devices"]:
            if one["device_id"] not in known and one["kind"] == purpose:
                return f"Signed in: {one['name']} ({one['device_id']})"
        time.sleep(POLL_SECONDS)
    return "Nothing signed in; the code has expired. For another one: qd pair"


def qr_lines(link: str) -> list[str]:
    """A QR code in half blocks, dark on light whatever the colours of the terminal are."""
    import segno

    drawn = io.StringIO()
    segno.make(link, error="l", micro=False).terminal(drawn, compact=True)
    return drawn.getvalue().rstrip("\n").split("\n")


@default_command(devices)
@command(devices, "list")
def list_devices() -> Output:
    """List signed-in browsers, phones, editors and key decks."""
    found = client().get("/api/v1/devices")
    columns: Columns = {
        "id": "device_id",
        "name": "name",
        "kind": "kind",
        "scopes": lambda device: " ".join(device["scopes"]),
        "last used": lambda device: ago(device["last_used_at"]),
        "expires": lambda device: time_or_never(device["expires_at"]),
    }
    hint = "No devices. Sign one in with: qd pair"
    asking = [
        f"{one['name']} asks for more rights and shows {one['step_up_number']}; to allow them for an hour: "
        f"qd devices confirm {one['device_id']} {one['step_up_number']}"
        for one in found["devices"]
        if one["step_up_number"]
    ]
    return Output(found, [table(found["devices"], columns, ("scopes",)) if found["devices"] else hint, *asking])


@command(devices)
def revoke(device_id: Annotated[str, argument("Id of the device, from `qd devices`.", metavar="DEVICE")]) -> Output:
    """Sign out a device. Its connections are closed within seconds."""
    return Output(client().call("DELETE", f"/api/v1/devices/{_quoted(device_id)}"), ["Signed out."])


@command(devices)
def confirm(
    device_id: Annotated[str, argument("Id of the device, from `qd devices`.", metavar="DEVICE")],
    number: Annotated[str, argument("The number that the device shows.", metavar="NUMBER")],
) -> Output:
    """Give a device that asks for it all rights but admin, for an hour."""
    given = client().post(f"/api/v1/devices/{_quoted(device_id)}/step-up", {"number": number})
    return Output(given, [f"{given['name']} may do everything but admin for an hour."])


def _quoted(device_id: str) -> str:
    known = [one["device_id"] for one in client().get("/api/v1/devices")["devices"]]
    return quote(full_id(known, device_id, "device", "qd devices"), safe="")
