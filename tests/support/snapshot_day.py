"""A recorded day for snapshots: the daemon's answers, and the keys that lead to each screen."""

from quarterdeck.core.model.events import OWN
from tests.support.recorded_daemon import NOW, Json, daemon_stats, event, project, project_list, request, session

SPENT: Json = {"input_tokens": 4210, "output_tokens": 980, "cache_read_tokens": 61200, "cache_write_tokens": 8300}
TODOS = [{"todo_id": "2", "text": "add the limiter", "status": "doing"}]
SHOP = session("shop", cwd="/home/ann/shop", project_id="p_shop", todos=TODOS, usage=SPENT | {"cost_usd": 0.61}, runs=2)
DOCS = session("docs", "running", cwd="/home/ann/docs", project_id="p_docs", title="update the reference")
PAST = session("past", "ended", cwd="/home/ann/docs", project_id="p_docs", ended_at=NOW - 7200, title="fix the links")
SESSIONS = [SHOP, DOCS | {"run_started_at": NOW - 240, "usage": SPENT | {"cost_usd": 0.12}}]

PUSH = request("q1", "git push --force origin feature/login", session_id="shop")
LINKS = request("q2", "make linkcheck", session_id="docs", opened_at=NOW - 3)
LINKS["risk"] = {"level": "low", "reasons": []}
WRITE = {"file_path": "/home/ann/docs/index.md", "content": "# Docs\n\nWelcome aboard.\n"}
CHANGE = request("q3", session_id="docs", tool_name="Write", tool_input=WRITE, opened_at=NOW - 2)
CHANGE["risk"] = {"level": "medium", "reasons": ["writes a file"]}
STORES = [
    {"label": "Redis", "description": "shared by every process; one more thing to run"},
    {"label": "Memory", "description": "nothing to run; each process counts by itself"},
]
QUESTIONS = [
    {"question": "Where should the limiter keep its counts?", "header": "Store", "options": STORES},
    {"question": "Which routes?", "header": "Routes", "multiSelect": True, "options": [{"label": "login"}]},
]
PLAN = "1. Find the login route\n2. Add a limiter before it\n3. Make the tests pass\n4. Update the docs"
FIELDS = {
    "name": {"type": "string", "title": "Name", "description": "as on the invoice"},
    "paid": {"type": "boolean", "title": "Already paid"},
    "way": {"type": "string", "title": "How it is sent", "enum": ["letter", "mail"]},
}
FORM: Json = {"mcp_server_name": "orders", "message": "Who gets the invoice?"}
FORM |= {"requested_schema": {"type": "object", "properties": FIELDS, "required": ["name"]}}


def question_request(request_id: str, form: str, tool_name: str, tool_input: Json) -> Json:
    question = request(request_id, session_id="shop", form=form, tool_name=tool_name, tool_input=tool_input)
    return question | {"kind": "question", "risk": {"level": "low", "reasons": []}}


REQUESTS: dict[str, Json] = {
    "push": PUSH,
    "links": LINKS,
    "change": CHANGE,
    "questions": question_request("q4", "questions", "AskUserQuestion", {"questions": QUESTIONS}),
    "plan": question_request("q5", "plan", "ExitPlanMode", {"plan": PLAN}),
    "form": question_request("q6", "elicitation", "orders", FORM),
}


def rule(rule_id: str, effect: str, pattern: str, **more: object) -> Json:
    made: Json = {"rule_id": rule_id, "effect": effect, "pattern": pattern, "scope": "user", "scope_id": None}
    made |= {"scope_path": None, "hits": 0, "last_hit_at": None, "expires_at": None, "created_at": NOW - 86400}
    return made | {"created_by": "owner via tui", "note": None} | more


IN_SHOP = {"scope": "project", "scope_id": "p_shop", "scope_path": "/home/ann/shop"}
RULES = [
    rule("r1", "allow", "Bash(git log:*)", hits=412, last_hit_at=NOW - 30),
    rule("r2", "deny", "Bash(git push --force:*)", hits=2, last_hit_at=NOW - 7200, note="never"),
    rule("r3", "allow", "Edit(src/**)", **IN_SHOP, hits=37, last_hit_at=NOW - 600, expires_at=NOW + 604800),
    rule("r4", "ask", "WebFetch(domain:example.org)", created_by="owner via cli"),
]
FINDING = "allow Bash(git log:*) covers all that allow Bash(git log --oneline:*) would"


def audit_row(seq_no: int, kind: str, about: str, **what: object) -> Json:
    row: Json = {"seq_no": seq_no, "at": NOW - 600 + seq_no, "kind": kind, "session_id": "shop", "who": "owner"}
    return row | {"surface": "tui", "source": "user", "about": about, "what": what, "digest": None, "hash": "c0ffee"}


AUDIT_ROWS = [
    audit_row(1, "rule.add", "deny Bash(git push --force:*)", effect="deny", pattern="Bash(git push --force:*)"),
    audit_row(2, "permission.decision", "pytest tests/auth -q", decision_type="allow", tool_name="Bash"),
    audit_row(3, "permission.decision", "git push --force origin main", decision_type="deny", tool_name="Bash")
    | {"who": "r2", "surface": None, "source": "rule"},
    audit_row(4, "project.trust", "/home/ann/docs", path="/home/ann/docs", trust="full") | {"session_id": OWN},
    audit_row(5, "setting.change", "decide.hold", key="decide.hold")
    | {"session_id": OWN, "who": "system", "surface": None},
]
PRIOR: Json = {"session_id": "old", "title": "a first draft", "last_used_at": NOW - 5 * 3600}
FOLDERS = [
    project("shop", git_branch="feature/login", is_dirty=True, ahead=2, has_claude_config=True),
    project("docs", trusted=True, trust="full", prior_sessions=[PRIOR]),
    project("infra", trust="rules", behind=3, git_remote="git@example.org:infra"),
    project("website", git_branch="redesign", git_trouble="took longer than 5 s", is_dirty=None),
]


def todo(seq_no: int, kind: str, todo_id: str, run: int, session_id: str = "shop", **data: object) -> Json:
    return event(seq_no, kind, "", session_id, todo_id=todo_id, **data) | {"run_id": f"{session_id}:R{run}"}


TODO_EVENTS = [
    todo(1, "todo.add", "1", 1, text="find the login route"),
    todo(2, "todo.add", "2", 1, text="add a limiter before it"),
    todo(3, "todo.done", "1", 1),
    todo(4, "todo.add", "1", 1, "docs", text="list the routes that lack docs"),
    todo(5, "todo.done", "1", 1, "docs"),
    todo(6, "todo.add", "3", 2, text="make the tests pass"),
    todo(7, "todo.update", "2", 2, patch={"status": "doing"}),
    todo(8, "todo.add", "4", 2, text="open a pull request against main, with a screenshot of the new answer"),
    todo(9, "todo.add", "5", 2, text="clean up"),
    todo(10, "todo.done", "5", 2, reason="removed"),
]
SETTINGS = [
    event(20, "setting.change", "", key="otel.endpoint", old=None, new='"http://127.0.0.1:4318"'),
    event(
        21, "setting.change", "", key="notify.push_url", old=None, new='"https://ntfy.example.org (address 5e884898)"'
    ),
]
RULE_VERDICT: Json = {"effect": None, "rules": [], "reasons": ["no rule is about this"], "trust": "full"}
RULE_VERDICT["patterns"] = ["Bash(git push --force origin feature/login)", "Bash(git push --force origin:*)"]
CARD: Json = {"rule": RULE_VERDICT, "diff": None, "change": None, "command": None, "suggested": []}
NOON_OF_USE = 1_791_028_800.0
SIMULATION: Json = {"seen": 214, "decided": 3, "left": 0, "next": None, "surprises": [], "examples": []}
DAYS_OF_USE = [0.0, 0.0, 4.5, 9.0, 7.0, 8.0, 1.5, 0.0, 0.0, 6.0, 12.0, 10.5, 9.0, 3.0]
SERIES: Json = {
    "times": [NOON_OF_USE + 86400.0 * day for day in range(14)],
    "until": NOON_OF_USE + 86400.0 * 14,
    "series": [
        {"name": name, "label": name, "total": share * sum(DAYS_OF_USE), "values": [share * n for n in DAYS_OF_USE]}
        for name, share in (("claude-opus-5-5", 1.0), ("claude-haiku-5", 0.25))
    ],
}
"""The same counts for every metric."""
ANSWERS: dict[str, Json] = {
    "/stats/series": SERIES,
    "/sessions": {"sessions": [PAST], "next": None},
    "/stats": daemon_stats(),
    "/rules": {"rules": RULES, "findings": [FINDING]},
    "/rules/simulate": SIMULATION,
    "/audit": {"audit": AUDIT_ROWS, "next": None},
    "/projects": project_list(*FOLDERS),
    "/feed": {"events": TODO_EVENTS + SETTINGS, "next": None},
    **{f"/requests/{one['request_id']}": one | CARD for one in REQUESTS.values()},
}


def typed_command(name: str) -> tuple[str, ...]:
    return "colon", *name, "enter"


VIEWS: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    "rules": (typed_command("rules"), "git log", ()),
    "audit": (typed_command("audit"), "denied", ()),
    "health": (typed_command("health"), "All is well", ()),
    "usage": (typed_command("usage"), "by model", ()),
    "projects": ((*typed_command("projects"), "down", "enter"), "home/ann/docs", ()),
    "tasks": (typed_command("tasks"), "find the login route", ()),
    "help": (("question_mark",), "Everywhere", ()),
    "about": (typed_command("about"), "No telemetry", ()),
    "remember": (("r",), "past requests", ("push",)),
    "edit": (("e",), "git push", ("push",)),
    "answer": (("a",), "Redis", ("questions",)),
    "plan": (("w",), "approve", ("plan",)),
    "form": (("a",), "Who gets", ("form",)),
    "batch": (("m", "space", "down"), "Mark the requests you have read", ("push", "links", "change")),
}
"""Each screen: the keys that lead to it, words that are there once it is complete, and the waiting requests."""
