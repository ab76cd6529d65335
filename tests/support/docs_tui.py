"""docs/tui.md: what the terminal face promises, and its keys from the tables they are made from."""

from collections.abc import Iterable, Iterator

from textual.binding import Binding, BindingType

from quarterdeck.surfaces.plain.command_help import ORDERS
from quarterdeck.surfaces.terminal.commands import COMMANDS, Command
from quarterdeck.surfaces.tui.help_screen import key_names
from quarterdeck.surfaces.tui.key_tables import PLACES

HEAD = """# The terminal face

`qd up` opens it; `qd up --plain` speaks in [lines for a screen reader](#lines-for-a-screen-reader), `--theme
dark|light|contrast` chooses the colours, `NO_COLOR` takes them away: every colour stands beside a glyph or a word. What
is read stands out from what is behind it by 4.5 to 1 at least, in `contrast` by 7 to 1. In a pipe it only starts the
daemon. It is a client of the daemon like every other; leaving it leaves the daemon running.

![The desk: sessions, the feed, and the request that waits](screenshots/desk.svg)

From 60×20 on everything fits: on a narrow screen the desk is on top, and the pane that has the focus gets room.

## The desk

One card at a time: who asks, what exactly, the risk in words, what the rules say, what Claude suggests, and the keys.

- A decision key acts only when the card has the focus and has been on screen for 0.3 s; so must a dialog that lets
  something through. A click decides only where it was pressed as well, with the first button alone, on a card that
  had the focus. A terminal that is too small to show what is wanted lets nothing through.
- What does not all show (more lines than fit, a long risk, a large input, characters that hide or reorder) must be
  opened with `x` first, and seen to its end (`end` goes there); to deny or to leave it to the terminal needs neither.
  Such characters are spelled out, like ⟨202e⟩. The editor shows them as JSON escapes.
- A decision carries the digest of what was shown. Who is too late is told who decided.
- A request that is resolved elsewhere stays for two seconds, greyed, with a word who did it.
- Below the card stands the latest decision: *sent*, then *confirmed* by what the agent did, or *overridden*.
- While the daemon is away or silent, or the state of a session is unknown, the keys are off and a banner says why.
- Many at once: each request is shown whole and marked by itself, once it has been on screen; there is no "allow the
  rest".
- A question is answered by number: on the card a number opens it with that choice, in the dialog numbers pick, Enter
  goes to the next question and sends after the last. Own words and a note go with it. What went out is told below the
  card and in the feed.
- A plan is approved with `a`, or with `w` in one of the modes that Claude Code has.
- `r` shows the rule as a sentence: the pattern, which can be changed, where and how long it holds, whether Claude Code
  shall keep it too, and what it would have decided. The first rule of a project also trusts the project for rules; the
  dialog says so before it is saved.
- What an SDK session asks cannot be left to a terminal, for it has none: `p` is not offered there.
- No key that decides here means something else on another screen. One that does not fit a card says why.

What is said, like how a decision ended, stands in the line at the bottom: nothing floats over what is read. The pane
that has the focus has a heavy frame and a `▸`.

A request that comes rings the bell, sends a desktop notification (OSC 9 and 777) and puts its count into the title.
Inside tmux the notification needs `set -g allow-passthrough on`. `:bell off` ends bell and notification. `y` copies
through the terminal (OSC 52).

![A small screen](screenshots/desk-small.svg)
![Remembering a decision](screenshots/remember.svg)

## The feed

What happened, of one session or of all. A tool and what came of it are one row: `●` and its name say that it is a
tool, so its row has no badge.

- What went wrong and what somebody is asked for is open from the start: a command that failed shows how its output
  ends, any other failure how its error begins, beside `FAIL`; a request shows all of a command that is longer than a
  line. From 100 columns on a request that is decided is marked `PERM`.
- What does not fit is cut in the middle and keeps its end; what is far longer says its size. `enter` opens it, `m`
  shows more of it, `y` copies it. Paths are told from where the session works; a command is told as it is.
- Where there is nothing to show, a line says why and what one can do. A filter that leaves little is looked for some
  thousand events back; then `↑`, `pageup` or the wheel looks further. What is searched or looked for far back says at
  the foot of the pane where it is, and `esc` stops it.

## Sessions

`s` starts a session: the project (typed words filter, trusted ones are marked), the mode, the permission mode, the
model, the prompt. A project that is not trusted yet is shown first with everything that it brings: hooks, MCP servers,
variables, allow rules; it can be trusted once all of that has been on screen. What is refused is said in the dialog,
and nothing that was typed is lost. The permission mode that is chosen is the one Claude Code is told, `default` too:
left to itself it may start in its auto mode. What goes on (resumed, forked, taken over) begins with the one it had.

![Starting a session](screenshots/start.svg)
![What a project brings, before it is trusted](screenshots/trust.svg)

An order is about the session under the cursor in the list, else about the one whose card has the focus, else about the
one whose feed is shown. The foot shows the keys that this session takes: a session of ours is written to (`>`),
interrupted, ended, forked, switched to another mode; one that has ended is resumed; one that runs in a terminal of its
own can be taken over (`T`) once it has ended there or nothing is known of it; until then it is forked. A key that
the session does not take says why. One that ends stays in the list while it is under the cursor or its feed is shown.
While the model of an SDK session speaks, its words stand at the end of the feed.

`t` hands the screen to the terminal of a pty or tmux session, and Ctrl-] comes back. Meanwhile this face draws nothing,
but it still rings and notifies when somebody waits.

`:plugins`, `:marketplaces` and `:mcp` have Claude Code's own command line do what is asked and show what it says. No
MCP server is started before `v`.

![Plugins](screenshots/plugins.svg)
![MCP servers](screenshots/mcp.svg)

## Other screens

`:rules` lists standing decisions with how often each has decided, adds and removes them (`u` restores the one that was
removed last), says what they say of a use, and tries one on the past. `:audit` shows who decided and changed what,
`:health` how the daemon does, `:about` what this is and what is configured to leave this machine. `esc` goes back.

`:projects` shows the projects that the daemon knows (`*` after a branch: something is changed), with their trust, their
sessions and what those cost. `t` trusts one, after everything that it brings was shown, `-` trusts it no more, `s`
starts a session in it, Enter shows all that is known. `v` has the daemon look for projects again and says how far it
is; the look cannot be called off, but `x` waits no longer for it.

`:tasks` shows the to-dos of every run, the latest run first, done ones too, as far as the last 5,000 events about
to-dos tell. The panel below the sessions has those of the current run alone; below 90 columns there is no panel.

![Rules](screenshots/rules.svg)
![The audit](screenshots/audit.svg)

The pictures are made by `make screenshots`, the tables below by `make docs`.

## Keys
"""


LINES = """
## Lines for a screen reader

`qd up --plain` speaks in sentences and is told what to do in lines. It moves no cursor and draws nothing; a request
that comes is one more line, with a bell, and what was being typed stands again below it. It reads from a terminal, with
its line editor and history, or from a pipe, and ends with the last line.

- A request has a number, which never means another: one that comes again with other content gets a new one. There is no
  order for "the next".
- A request of more than 20 lines, a large one, or one with characters that hide must be read out by `show N` to its end
  before it is allowed. Such characters are spelled out, like ⟨202e⟩.
- What is edited, remembered, filled in or answered question by question is read back, and sent only after a `yes`.
- Nothing is decided while the daemon is silent or the state of a session unknown, nor in the first 0.3 s. Who decides
  elsewhere is named in a sentence.
- `cancel` leaves what is asked. The terminal of a session is reached by `qd attach`; plugins, MCP servers and projects
  have commands of their own (`qd plugins`, `qd mcp`, `qd projects`).

| order | does |
| --- | --- |
"""


def tui_page() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, bindings in PLACES:
        parts += [f"\n### {title}\n\n| key | does |\n| --- | --- |\n", *_keys(bindings)]
    parts += [
        "\n## Commands\n\nAfter `:`, or by `ctrl+p`. A beginning is enough.\n\n| command | does |\n| --- | --- |\n"
    ]
    return "".join([*parts, *_commands(COMMANDS), LINES, *_commands(ORDERS)])


def _commands(commands: Iterable[Command]) -> Iterator[str]:
    for command in commands:
        takes = f" {command.takes}" if command.takes else ""
        yield f"| `{_cell(command.name + takes)}` | {_cell(command.words)} |\n"


def _keys(bindings: Iterable[BindingType]) -> Iterator[str]:
    for binding in bindings:
        made = binding if isinstance(binding, Binding) else Binding(*binding)
        keys = " ".join(f"`{_cell(name)}`" for name in key_names(made))
        yield f"| {keys} | {_cell(made.tooltip or made.description)} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
