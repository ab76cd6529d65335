"""`qd usage`: what was used over time, and what it cost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from operator import itemgetter
from typing import Annotated, Literal

from rich.console import RenderableType

from quarterdeck.cli.common import (
    Columns,
    Json,
    Output,
    cell,
    client,
    command,
    group,
    option,
    out,
    project_id_named,
    table,
)
from quarterdeck.cli.output.time_args import SINCE, read_time
from quarterdeck.core.text.amounts import cut
from quarterdeck.surfaces.text.charts import bar
from quarterdeck.surfaces.text.usage_table import (
    UsageRow,
    UsageTable,
    amount_text,
    price_note,
    usage_queries,
    usage_table,
)

app = group("Show what was used.")
By = Literal["day", "project", "model", "agent"]
DEFAULT_SINCE = "7d"
BAR_WIDTH = 24
LABEL_WIDTH = 32
HEADINGS = {"cost_usd": "cost", "tokens": "tokens", "prompts": "prompts", "tools": "tools", "sessions": "sessions"}


@command(app)
def usage(
    since: Annotated[str, option(f"Begin with the day of then: {SINCE}.")] = DEFAULT_SINCE,
    until: Annotated[str | None, option(f"End with the day of then: {SINCE} (default: today).")] = None,
    by: Annotated[By, option("One row for each of these.")] = "day",
    project: Annotated[str | None, option("Only sessions of this project, by its name or folder.")] = None,
) -> Output:
    """Show what agents used and what it cost, in whole days."""
    api = client()
    start, end = read_time(since), read_time(until) if until else time.time()
    project_id = project_id_named(api, project) if project is not None else None
    queries = usage_queries(by, start, end, project_id)
    answers = {metric: api.get("/api/v1/stats/series", **query) for metric, query in queries.items()}
    made, one = usage_table(by, answers), next(iter(answers.values()))
    value = {
        "since": one["times"][0],
        "until": one["until"],
        "by": by,
        "usage": [_json(row) for row in made.rows],
        "total": _json(made.total),
        "next": None,
    }
    return Output(value, usage_lines(made))


def _json(row: UsageRow) -> Json:
    return {"name": row.name, "label": row.label, **row.amounts}


def usage_lines(made: UsageTable) -> Iterator[RenderableType]:
    if not any(made.total.amounts.values()):
        yield "Nothing was used in this time."
        return
    shown = [metric for metric in HEADINGS if metric in made.total.amounts]
    measure = "cost_usd" if made.total.amounts.get("cost_usd") else "tokens"
    most = max((row.amounts.get(measure, 0) for row in made.rows), default=0)
    columns: Columns = {made.by: lambda row: cut(row["label"], LABEL_WIDTH)}
    for metric in shown:
        columns[HEADINGS[metric]] = itemgetter(metric)
    if out.width >= 80:
        columns[f"by {HEADINGS[measure]}"] = lambda row: cell(row["bar"], "cyan")
    rows = [_cells(row, shown, bar(row.amounts.get(measure, 0), most, BAR_WIDTH)) for row in made.rows]
    made_table = table([*rows, _cells(made.total, shown, "")], columns)
    for column in made_table.columns[1 : 1 + len(shown)]:
        column.justify = "right"
    yield made_table
    if note := price_note(made):
        yield note


def _cells(row: UsageRow, shown: list[str], drawn: str) -> Json:
    return {"label": row.label, "bar": drawn, **{metric: amount_text(metric, row) for metric in shown}}
