"""Sign-in links and tokens: login-url, tokens."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, urlsplit

from quarterdeck.api.http.credentials import SCOPES
from quarterdeck.cli.common import (
    Columns,
    Expires,
    Output,
    argument,
    cell,
    client,
    command,
    default_command,
    full_id,
    group,
    option,
    require_one_of,
    table,
    time_or_never,
)
from quarterdeck.cli.output.time_args import read_duration
from quarterdeck.config.home import home_path
from quarterdeck.daemon.setup.home_files import Home
from quarterdeck.errors import Refused
from quarterdeck.surfaces.text.labels import ago

app = group("Sign in other clients.")
tokens = group("Manage tokens for button decks, phones and scripts.", name="tokens")
app.add_typer(tokens)


@command(app)
def login_url(
    public: Annotated[bool, option("Print the public address, for use from another machine.", "--public")] = False,
) -> Output:
    """Print a one-time link that signs your browser in. It works for 60 seconds."""
    made = client().post("/api/v1/login-codes", {})
    if public:
        made["url"] = f"{public_url()}/login?{urlsplit(made['url']).query}"
    return Output(made, [made["url"]])


@command(tokens)
def create(
    name: Annotated[str, argument("Name of the token in the record.")],
    scope: Annotated[list[str], option(f"Permission: {', '.join(SCOPES)}; repeatable.")],
    expires: Expires = None,
) -> Output:
    """Create a token. It is shown only once."""
    scopes = [part for value in scope for part in value.replace(",", " ").split()]
    for one in scopes:
        require_one_of("--scope", one, SCOPES)
    body = {"name": name, "scopes": scopes, "expires_seconds": read_duration(expires) if expires else None}
    made = client().post("/api/v1/tokens", body)
    note = f"{made['token_id']}: may {', '.join(made['scopes'])}. It will not be shown again."
    return Output(made, [made["token"], cell(note, "dim")])


@default_command(tokens)
@command(tokens, "list")
def list_tokens() -> Output:
    """List tokens and signed-in pages."""
    found = client().get("/api/v1/tokens")
    columns: Columns = {
        "id": "token_id",
        "name": "name",
        "kind": "kind",
        "scopes": lambda token: " ".join(token["scopes"]),
        "created": lambda token: ago(token["created_at"]),
        "last used": lambda token: ago(token["last_used_at"]),
        "expires": lambda token: time_or_never(token["expires_at"]),
    }
    hint = "No tokens. Create one with: qd tokens create NAME --scope observe"
    return Output(found, [table(found["tokens"], columns, ("scopes",)) if found["tokens"] else hint])


@command(tokens)
def revoke(token_id: Annotated[str, argument("Id of the token, from `qd tokens list`.", metavar="TOKEN")]) -> Output:
    """Revoke a token. Clients that use it are disconnected."""
    api = client()
    known = [token["token_id"] for token in api.get("/api/v1/tokens")["tokens"]]
    token_id = full_id(known, token_id, "token", "qd tokens list")
    return Output(api.call("DELETE", f"/api/v1/tokens/{quote(token_id, safe='')}"), ["Revoked."])


def public_url() -> str:
    """The daemon's address for other machines."""
    note = Home(home_path()).read_note() or {}
    if "public_url" not in note:
        raise Refused(
            "the daemon listens on this machine only; start it with: qd daemon --host 0.0.0.0 --tls-self-signed"
        )
    return str(note["public_url"])
