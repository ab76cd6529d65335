"""The machines of a hub: hub enroll, runners, expel."""

from __future__ import annotations

import contextlib
import time
from typing import Annotated
from urllib.parse import quote

from quarterdeck.cli.common import (
    Columns,
    Json,
    Output,
    Yes,
    argument,
    cell,
    client,
    confirm,
    full_id,
    remote,
    table,
)
from quarterdeck.config.home import home_path, prepare_home
from quarterdeck.errors import NoDaemon, Refused
from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.text.labels import ago

HINT = "; start it with: qd hub serve"


def hub_client() -> Client:
    """A client for the hub of this home, or for the one of `qd --url`."""
    from quarterdeck.hub.hub_home import HubHome

    if remote() is not None:
        return client()
    home = HubHome(home_path())
    note = home.read_note()
    if note is None:
        raise NoDaemon(f"no hub is running (home: {home.path}){HINT}")
    return Client(str(note["url"]), home.token("token"), hint=HINT)


def enroll(name: Annotated[str, argument("Name of the machine.")]) -> Output:
    """Enrol a machine. Its token is shown only once; on the machine: qd hub join URL --token-file FILE."""
    try:
        found = hub_client()
        made = found.post("/api/v1/runners", {"name": name})
        url = found.url
    except NoDaemon:
        if remote() is not None:
            raise
        made, url = _enroll_in_store(name), "URL"
    view = {"runner_id": made["runner_id"], "name": made["name"], "token": made["token"]}
    note = f"{made['name']} joins with: qd hub join {url} --token-file FILE. The token will not be shown again."
    return Output(view, [made["token"], cell(note, "dim")])


def _enroll_in_store(name: str) -> Json:
    """Enrol a machine while no hub runs."""
    from quarterdeck.hub.hub_home import HubHome
    from quarterdeck.hub.store.enrolments import add_enrolment, enrolments, new_credential
    from quarterdeck.hub.store.hub_schema import open_hub_store
    from quarterdeck.hub.store.records import HubRecord, add_record
    from quarterdeck.store.sqlite import transaction

    prepare_home(home_path())
    home = HubHome(home_path())
    home.lock()
    try:
        with contextlib.closing(open_hub_store(home.database)) as db, transaction(db):
            if any(one.name == name and one.expelled_at is None for one in enrolments(db)):
                raise Refused(f"a machine called {name} is enrolled; choose another name, or expel it")
            enrolment_id, token = new_credential(name)
            add_enrolment(db, enrolment_id, token, name, "owner via cli", time.time())
            about = f"machine {name}"
            record = HubRecord(
                kind="hub.enroll", at=time.time(), who="owner", surface="cli", about=about, runner_id=enrolment_id
            )
            add_record(db, record)
    finally:
        home.unlock()
    return {"runner_id": enrolment_id, "name": name, "token": token}


def runners() -> Output:
    """List the machines of a hub, and which are away or in conflict."""
    found = hub_client().get("/api/v1/runners")
    columns: Columns = {
        "id": "runner_id",
        "name": "name",
        "state": state_words,
        "since": lambda one: ago(one["since"]),
        "events": "seq_no",
        "version": lambda one: f"{one['version']} (older)" if one["is_out_of_date"] else one["version"],
    }
    hint = "No machines. Enrol one with: qd hub enroll NAME"
    lines = [table(found["runners"], columns) if found["runners"] else hint]
    return Output(found, [*lines, *(cell(line, "yellow") for one in found["runners"] for line in _troubles(one))])


def state_words(runner: Json) -> str:
    """The state of a machine, in words."""
    if runner["state"] == "catching_up":
        return f"catching up, {runner['behind']:,} to come"
    return str(runner["state"]).replace("_", " ")


def _troubles(runner: Json) -> list[str]:
    held = f" beside {runner['address']}" if runner["address"] else ""
    fix = "expel it, then enrol each machine by itself"
    rivals = [
        f"! {runner['name']}: a second one with its identity at {one['address']}{held} → {fix}"
        for one in runner["rivals"]
    ]
    return rivals + ([f"! {runner['name']}: {runner['problem']}"] if runner["problem"] else [])


def expel(
    runner: Annotated[str, argument("Id or name of the machine, from `qd hub runners`.", metavar="RUNNER")],
    yes: Yes = False,
) -> Output:
    """Expel a machine: its token is worthless from now on. What it sent stays."""
    api = hub_client()
    known = [one for one in api.get("/api/v1/runners")["runners"] if one["state"] != "expelled"]
    named = [one["runner_id"] for one in known if runner in (one["name"], one["enrolment_id"])]
    ids = [one["runner_id"] for one in known]
    runner_id = named[0] if len(named) == 1 else full_id(ids, runner, "machine", "qd hub runners")
    confirm(f"Expel {runner_id}?", "not expelled; repeat with --yes", is_sure=yes)
    return Output(api.call("DELETE", f"/api/v1/runners/{quote(runner_id, safe='')}"), ["Expelled."])
