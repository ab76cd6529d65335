"""Every order that can be typed, for the help and the documents; pure."""

from __future__ import annotations

from quarterdeck.surfaces.terminal.commands import Command

REQUESTS = (
    Command("list", "", "who waits, each with its number"),
    Command("show", "N", "read out everything about request N, to its end"),
    Command("allow", "N", "let it run; of an agent that wants to stop: let it stop"),
    Command("edit", "N [COMMAND or JSON]", "change its input, here or in $EDITOR; reads it back before it is allowed"),
    Command("approve", "N [1-4]", "approve a plan, and say how the agent works on it"),
    Command("deny", "N [WORDS]", "refuse; the agent reads the words"),
    Command("interrupt", "N [WORDS]", "refuse, and stop the agent's turn"),
    Command("answer", "N [NUMBERS or WORDS]", "answer a question, or fill in a form field by field"),
    Command("go-on", "N [WORDS]", "do not let the agent stop; it reads the words"),
    Command("remember", "N [SCOPE]", "make a rule of the decision: says first what it covers; session, project, user"),
    Command("pass", "N", "leave it to the agent's own terminal"),
)
SESSIONS = (
    Command("sessions", "[all]", "who works, and what each takes; all names those that have ended, too"),
    Command("feed", "[SESSION] [COUNT]", "what happened last, of all sessions or of one"),
    Command("feed on", "[SESSION]", "say what happens as it happens"),
    Command("feed off", "", "say only what asks for you"),
    Command("tasks", "", "the to-dos of every run"),
    Command("start", "[PROJECT or FOLDER]", "start a session; asks for what is needed, and shows what a folder brings"),
    Command("write", "SESSION WORDS", "write to a session"),
    Command("stop-turn", "SESSION", "make a session stop what it does"),
    Command("end", "SESSION", "end a session, with everything it started"),
    Command("resume", "SESSION [WORDS]", "go on with a conversation that has ended"),
    Command("fork", "SESSION [WORDS]", "go on under a new id; the old conversation stays as it is"),
    Command("take-over", "SESSION [WORDS]", "make a session of ours of one that ran elsewhere"),
    Command("switch", "SESSION mode|model|permissions VALUE", "let a session go on otherwise"),
    Command("diff", "SESSION", "what its worktree has changed"),
    Command("merge", "SESSION", "merge its worktree into the branch it began on"),
    Command("discard", "SESSION", "take its worktree and branch away; says first what is lost"),
)
OTHERS = (
    Command("rules", "", "standing decisions, each with its number"),
    Command("rules add", "allow|ask|deny PATTERN", "make a rule; says first what it would have decided"),
    Command("rules remove", "R", "take rule R back"),
    Command("audit", "[COUNT]", "who decided and changed what"),
    Command("health", "", "how the daemon does"),
    Command("bell", "on|off", "whether a request that comes rings"),
    Command("help", "[ORDER]", "every order, or one"),
    Command("quit", "", "leave; the daemon stays"),
)
ORDERS = (*REQUESTS, *SESSIONS, *OTHERS)
NAMES = tuple(dict.fromkeys(order.name.partition(" ")[0] for order in ORDERS))
INTRO = (
    "Requests are numbered as they come; a number is never used again. allow, deny and pass take several: allow 2,3,5.",
    "SESSION is a project's name or the start of an id. Where something is asked, cancel leaves it.",
)


def help_lines(about: str = "") -> list[str]:
    """Every order on a line; or those that begin with a word."""
    found = [order for order in ORDERS if order.name.startswith(about)]
    if about:
        return [_said(order) for order in found] or [f"No such order: {about}"]
    return [*INTRO, *(_said(order) for order in found)]


def _said(order: Command) -> str:
    return f"{order.name} {order.takes}".rstrip() + f": {order.words}"


def meant(word: str) -> tuple[str, str]:
    """The order that a word names, and nothing; or nothing, and why it names none. An order that decides is never
    guessed from its beginning."""
    if word in NAMES:
        return word, ""
    begun = [name for name in NAMES if word and name.startswith(word)]
    near = f"; did you mean {' or '.join(begun)}?" if begun else "; help lists them"
    return "", f"No such order: {word}{near}" if word else "help lists the orders"
