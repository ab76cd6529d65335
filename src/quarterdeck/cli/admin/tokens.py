"""Who may come in: login-url, tokens."""

from __future__ import annotations

import time
from typing import Annotated
from urllib.parse import quote, urlsplit

import typer
from rich.table import Table

from quarterdeck.cli.common import AsJson, ago, cell, client, out, plainly, print_json
from quarterdeck.cli.output.time_args import read_length
from quarterdeck.config import home_path
from quarterdeck.daemon.setup.home import Home
from quarterdeck.errors import Refused

tokens = typer.Typer(
    help="Make, list and take back tokens for decks, phones and scripts.", no_args_is_help=True, rich_markup_mode=None
)


@plainly
def login_url(
    public: Annotated[bool, typer.Option("--public", help="For another machine: with the address it calls.")] = False,
    json: AsJson = False,
) -> None:
    """Print a one-time link that signs a page in, for 60 seconds."""
    made = client().post("/api/v1/login-codes", {})
    if public:
        made["url"] = f"{public_url()}/login?{urlsplit(made['url']).query}"
    if json:
        print_json(made)
    else:
        out.print(made["url"])


@tokens.command("create")
@plainly
def create(
    name: Annotated[str, typer.Argument(help="What the record calls it.")],
    scope: Annotated[
        list[str], typer.Option(help="What it may do: ingest observe approve edit prompt control admin. Repeatable.")
    ],
    expires: Annotated[
        str | None, typer.Option(help="How long it lives, like 12h or 30d; without it for ever.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Make a token. It is shown once."""
    scopes = [part for given in scope for part in given.replace(",", " ").split()]
    body = {"name": name, "scopes": scopes, "expires_seconds": read_length(expires) if expires else None}
    made = client().post("/api/v1/tokens", body)
    if json:
        print_json(made)
        return
    out.print(made["token"])
    out.print(f"{made['token_id']}: may {', '.join(made['scopes'])}. It is not shown again.", style="dim")


@tokens.command("list")
@plainly
def list_tokens(json: AsJson = False) -> None:
    """List tokens and signed-in pages."""
    found = client().get("/api/v1/tokens")
    if json:
        print_json(found)
        return
    if not found["tokens"]:
        out.print("No tokens. Make one with: qd tokens create NAME --scope observe")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("id", "name", "kind", "scopes", "made", "last use", "expires"):
        table.add_column(column, no_wrap=column != "scopes", overflow="fold")
    for token in found["tokens"]:
        left = token["expires_at"]
        table.add_row(
            cell(token["token_id"]),
            cell(token["name"]),
            cell(token["kind"]),
            cell(" ".join(token["scopes"])),
            cell(ago(token["created_at"])),
            cell(ago(token["last_used_at"])),
            cell(time.strftime("%d %b %H:%M", time.localtime(left)) if left else "never"),
        )
    out.print(table)


@tokens.command("revoke")
@plainly
def revoke(
    token_id: Annotated[str, typer.Argument(help="As `qd tokens list` shows it.")], json: AsJson = False
) -> None:
    """Take a token back; whoever is connected with it is cut off."""
    asked = client()
    found = [t["token_id"] for t in asked.get("/api/v1/tokens")["tokens"] if t["token_id"].startswith(token_id)]
    token_id = found[0] if len(found) == 1 else token_id
    done = asked.call("DELETE", f"/api/v1/tokens/{quote(token_id, safe='')}")
    if json:
        print_json(done)
    else:
        out.print("Revoked.")


def public_url() -> str:
    """Where another machine calls the daemon."""
    note = Home(home_path()).read_note() or {}
    if "public_url" not in note:
        raise Refused(
            "the daemon listens on this machine alone; start it with: qd daemon --host 0.0.0.0 --tls-self-signed"
        )
    return str(note["public_url"])


def register(cli: typer.Typer) -> None:
    cli.command("login-url")(login_url)
    cli.add_typer(tokens, name="tokens")
