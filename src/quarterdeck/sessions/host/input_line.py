"""Unsent text at a terminal's prompt, followed from the typed keys; and the bytes of a prompt to type. Standard library
only."""

from __future__ import annotations

import re

PASTE, PASTE_END = b"\x1b[200~", b"\x1b[201~"
ENTER, ESCAPE, CTRL_C, CTRL_U, CTRL_Z = b"\r", b"\x1b", b"\x03", b"\x15", b"\x1a"
BACK = b"\x7f"
CTRL_Z_CODED = b"\x1b[122;5u"
SHELL_MARK = "!"
"""An agent runs text that begins with this as a shell command."""

TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
MAX_PROMPT = 512 * 1024
# A sequence that is still open after so many bytes is none, and its bytes are text.
LONGEST_KEY = 64

KEYS = re.compile(
    rb"(?P<paste>\x1b\[200~)"
    rb"|\x1b\[(?P<code>[\d:;]+)u|\x1b\[27;(?P<mods>\d+);(?P<other>\d+)~"
    rb"|(?P<recall>\x1b[\[O][AB])"
    rb"|(?P<reply>\x1b(?:\[[<>=?][0-?]*[ -/]*[@-~]|\[[IOZ]|\[M...|\[\d+;\d+R|[\]P_][^\x07\x1b]*(?:\x07|\x1b\\)))"
    rb"|(?P<move>\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]))"
    rb"|(?P<newline>\x1b[\r\n])"
    rb"|(?P<alt>\x1b[^\x1b\[O\]P_])"
    rb"|(?P<escape>\x1b)"
    rb"|(?P<text>[\x20-\x7e\x80-\xff]+)"
    rb"|(?P<control>[\x00-\x1f\x7f])",
    re.DOTALL,
)
"""Every byte is part of one key. `reply`: what terminals send by themselves, and keys that write nothing."""

PARTIAL = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|O|[\]P_][^\x07\x1b]*\x1b?|\[M.{0,2})\Z", re.DOTALL)
CONTINUED = bytes(range(0x80, 0xC0))
RETURN, NEWLINE, TAB, BACKSPACE, DELETE = 0x0D, 0x0A, 0x09, 0x08, 0x7F
WRITING = frozenset({TAB, 0x04, 0x0B, 0x0E, 0x10, 0x12, 0x16, 0x17, 0x19})
"""Completion, history, search, delete and yank: after these the keys no longer tell what the line holds."""


class InputLine:
    """Follows the typed keys: `half_written` is true while there is text that is neither sent nor deleted. In doubt it
    is true: after a key for the history, for example, until the line is sent or cancelled with Ctrl-C."""

    def __init__(self, *, shell: bool) -> None:
        self._shell = shell
        self._rest = b""
        self._in_paste = False
        self._empty()

    @property
    def half_written(self) -> bool:
        return self._typed > 0 or self._doubt or self._in_paste

    def _empty(self) -> None:
        self._typed, self._doubt, self._several, self._continues, self._completes = 0, False, False, False, False

    def _break(self) -> None:
        self._typed, self._several, self._continues = self._typed + 1, True, False

    def feed(self, keys: bytes) -> None:
        keys = self._rest + keys
        self._rest = b""
        at = 0
        while at < len(keys):
            if self._in_paste:
                at = self._pasted(keys, at)
            elif keys[at] == ESCAPE[0] and len(keys) - at < LONGEST_KEY and PARTIAL.match(keys, at):
                self._rest = keys[at:]
                return
            elif found := KEYS.match(keys, at):
                self._key(found)
                at = found.end()

    def _pasted(self, keys: bytes, at: int) -> int:
        end = keys.find(PASTE_END, at)
        self._in_paste = end < 0
        if end < 0:
            self._rest = keys[max(at, len(keys) - len(PASTE_END) + 1) :]
            end = len(keys) - len(self._rest)
            self._doubt = self._doubt or end > at
            return len(keys)
        self._doubt = self._doubt or end > at
        return end + len(PASTE_END)

    def _key(self, found: re.Match[bytes]) -> None:
        match found.lastgroup:
            case "paste":
                self._in_paste = True
            case "text":
                self._text(found[0])
            case "newline":
                self._break()
            case "control":
                self._control(found[0][0])
            case "code" | "other":
                self._coded(found)
            case "recall" | "alt":
                self._doubt = True
            case "move":
                self._doubt = self.half_written

    def _text(self, text: bytes) -> None:
        self._typed += len(text.translate(None, CONTINUED))
        self._continues = text.endswith(b"\\")
        _, space, word = text.rpartition(b" ")
        self._completes = b"@" in word or (self._completes and not space)

    def _coded(self, found: re.Match[bytes]) -> None:
        """Read a key as newer terminals send it: a code point, and 1 plus the bits shift 1, alt 2, control 4."""
        first, _, second = (found["code"] or b"%s;%s" % (found["other"], found["mods"])).partition(b";")
        code, mods = number(first), max(0, number(second) - 1)
        if mods == 4 and 97 <= code <= 122:
            self._control(code - 96)
        elif code in (RETURN, DELETE, TAB) and not mods:
            self._control(code)
        elif code == RETURN:
            self._break()
        elif code != ESCAPE[0]:
            self._doubt = True

    def _control(self, key: int) -> None:
        if key == CTRL_C[0]:
            self._empty()
        elif key == RETURN or (key == NEWLINE and self._shell):
            self._enter()
        elif key == CTRL_U[0] and not self._doubt and not self._several:
            self._empty()
        elif key == NEWLINE:
            self._break()
        elif key in (BACKSPACE, DELETE):
            self._typed = max(0, self._typed - 1)
        elif key in WRITING or self._typed:
            self._doubt = True

    def _enter(self) -> None:
        """Enter sends the line, unless it ends with a backslash, or Enter only completes a file name."""
        if self._continues:
            self._break()
        elif self._completes and not self._shell:
            self._doubt, self._completes = True, False
        else:
            self._empty()


def number(digits: bytes) -> int:
    return int(digits.partition(b":")[0].partition(b";")[0] or 0)


def typed_prompt(text: str) -> bytes:
    """The bytes of a prompt, for one paste; ValueError with a message if it cannot be typed. Line ends become those of
    a paste; tabs stay."""
    clean = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    clean = f" {clean}" if clean.startswith(SHELL_MARK) else clean
    if not clean.strip():
        raise ValueError("the prompt is empty; write something")
    bad = next((c for c in clean if is_control(c)), None)
    if bad is not None:
        raise ValueError(f"the prompt contains the control character {bad!a}; remove it")
    try:
        typed = clean.encode()
    except UnicodeEncodeError:
        raise ValueError("the prompt contains half a character; remove it") from None
    if len(typed) > MAX_PROMPT:
        raise ValueError(f"the prompt is over {MAX_PROMPT // 1024} KiB; put it into a file and name the file")
    return typed


def is_control(char: str) -> bool:
    """True for control characters, and for those that change the text direction: an agent silently drops them."""
    return (char < " " and char not in "\n\t") or "\x7f" <= char <= "\x9f" or char in TURNING
