"""The key deck in a terminal: its model as lines, and the command that a typed key sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rich.cells import set_cell_size

from quarterdeck.core.text.durations import age_words
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.terminal.styled_text import StyledLine, line
from quarterdeck.views.session_label import state_word

Json = dict[str, Any]
WIDTH = 24
"""Columns of one key; three keys fit into 80."""
COLUMNS = 3
MOST_DETAIL = 12
"""Lines of the shown request's input; the desk has all of them."""

STYLES: Mapping[str, str] = {"green": "good", "red": "blocked", "yellow": "warn", "cyan": "strong", "blue": "strong"}
BUTTON_KEYS: Mapping[str, str] = {"enter": "enter", "escape": "esc", "x": "export", "c": "ctrl_c"}
PAGE_KEYS: Mapping[str, str] = {"[": "prev", "]": "next"}
ROLLER_KEYS: Mapping[str, int] = {"-": -1, "+": 1}
HELP = "1-9 keys · Enter · {esc} · x Export · c Ctrl-C · [ ] page · - + roller · {leave} leaves"


class DeckCommandCall(NamedTuple):
    """A command of the API with its arguments."""

    name: str
    args: Json


class DeckKeyReader:
    """Reads typed keys as commands. A key that must be held to confirm is pressed twice: a terminal does not tell how
    long a key is down. `note` says what a key waits for."""

    def __init__(self) -> None:
        self._confirming: str | None = None
        self.note = ""

    def read(self, typed: str, model: Json) -> DeckCommandCall | None:
        """The command of a typed key; None when it sends nothing now."""
        before, self._confirming, self.note = self._confirming, None, ""
        if typed in BUTTON_KEYS:
            return DeckCommandCall("dialpad_button_press", {"button": BUTTON_KEYS[typed]})
        if typed in PAGE_KEYS:
            return DeckCommandCall("page_nav", {"direction": PAGE_KEYS[typed]})
        if typed in ROLLER_KEYS:
            return DeckCommandCall("adjustment", {"kind": "roller", "delta": ROLLER_KEYS[typed]})
        if typed in "123456789" and len(typed) == 1:
            key = model["keypad"]["slots"][int(typed) - 1]
            if key["action"] == "allow" and is_too_long(model):
                self.note = "The request is longer than this deck shows: allow it on the desk"
                return None
            return self._press(key, before)
        return None

    def _press(self, key: Json, before: str | None) -> DeckCommandCall | None:
        args = {"slot": key["slot"], "revision": key["revision"]}
        if not key["hold"]:
            return DeckCommandCall("keypad_press", args)
        if before == key["revision"]:
            return DeckCommandCall("keypad_press", {**args, "held": True})
        self._confirming = key["revision"]
        self.note = f"The risk is high: press {key['slot'] + 1} again to {key['label'].lower()}"
        return None


def deck_lines(model: Json, now: float, note: str = "", *, esc: str = "Esc", leave: str = "q") -> Iterator[StyledLine]:
    """The whole deck: the session, the keys, the request, the buttons. `esc` names the key of its Esc button,
    `leave` the one that leaves it."""
    yield from _head(model, now)
    yield StyledLine()
    slots = model["keypad"]["slots"]
    for first in range(0, len(slots), COLUMNS):
        yield from _row(slots[first : first + COLUMNS])
    yield line((_page(model), "dim"))
    yield StyledLine()
    yield from _request(model)
    yield from _armed(model)
    if model["problem"]:
        yield line(("✕ ", "blocked"), one_line(model["problem"]))
    if note:
        yield line(("! ", "warn"), one_line(note))
    yield line((HELP.format(esc=esc, leave=leave), "dim"))


def _head(model: Json, now: float) -> Iterator[StyledLine]:
    state, label = model["state"], state_word(model["agent_state"])
    where = " · ".join(filter(None, (state["project"], state["title"]))) or "no session"
    since = f" for {age_words(max(0.0, now - state['since']))}" if state["since"] else ""
    hooks = "hooks active" if model["hooks_mode"] == "active" else "hooks absent"
    yield line((f"{label.glyph} {label.word}", "strong"), f"{since} · {one_line(where)} · ", (hooks, "dim"))
    if model["selected"] is not None:
        yield line((f"selected: {one_line(model['selected']['name'])}", "dim"))


def _row(keys: list[Json]) -> Iterator[StyledLine]:
    """Three keys, each with its label, its sub-label, and what is special about it."""
    for part in (_label, _below, _mark):
        spans = []
        for key in keys:
            words, style = part(key)
            spans.append((f" {set_cell_size(words, WIDTH - 2)} ", style))
        yield line(*spans)
    yield StyledLine()


def _label(key: Json) -> tuple[str, str]:
    if key["kind"] == "empty":
        return f"{key['slot'] + 1}", "dim"
    words = f"{key['slot'] + 1} {key['glyph']} {key['label']}".replace("  ", " ")
    style = "dim" if not key["enabled"] else "warn" if key["armed"] else STYLES.get(key["colour"], "")
    return words, style


def _below(key: Json) -> tuple[str, str]:
    return f"  {key['sublabel']}", "dim"


def _mark(key: Json) -> tuple[str, str]:
    if key["armed"]:
        return "  armed", "warn"
    if key["hold"] and key["enabled"]:
        return "  press twice", "warn"
    return "", ""


def _page(model: Json) -> str:
    name = f"  {model['page_name']}" if model["page_name"] else ""
    return f" Page {model['page_index'] + 1} of {model['page_count']}{one_line(name)}"


def _request(model: Json) -> Iterator[StyledLine]:
    request = model["request"]
    if request is None:
        yield line(("Nothing waits for you.", "dim"))
        return
    risk = f"{request['mark']} {request['risk']}".strip()
    place = f"{request['position']} of {model['waiting_count']}"
    title = f"{request['tool_name']}  {risk}  {request['project']}  ({place})"
    yield line((f"◆ {one_line(title)}", "warn"))
    found = request["detail"].split("\n")
    for words in found[:MOST_DETAIL]:
        yield line(words, indent=2)
    if len(found) > MOST_DETAIL:
        yield line((f"… {len(found) - MOST_DETAIL} more lines: see the desk", "warn"), indent=2)
    for reason in [*request["reasons"], *request["hides"]]:
        yield line((f"{request['mark'] or '·'} {one_line(reason)}", "dim"), indent=2)
    for number, option in enumerate(request["options"], 1):
        yield line(f"{number}. {option}", indent=2)
    if request["always"]:
        yield line((f"Allow makes a rule: {one_line(request['pattern'] or 'none is safe')}", "warn"), indent=2)


def _armed(model: Json) -> Iterator[StyledLine]:
    if model["armed"] is not None:
        enter = model["buttons"]["enter"]
        why = "" if enter["enabled"] else f" ({enter['reason']})"
        yield line(("▶ armed: ", "warn"), f"{one_line(model['armed']['command'])}{one_line(why)}")
    last = model["dispatch"]
    if last is not None and last["outcome"] != "delivered":
        yield line((f"{last['outcome']}: {one_line(last['reason'] or last['route'])}", "dim"))


def is_too_long(model: Json) -> bool:
    """True if the shown request has more lines than a terminal's deck shows: it is allowed on the desk."""
    request = model["request"]
    return request is not None and request["detail"].count("\n") >= MOST_DETAIL
