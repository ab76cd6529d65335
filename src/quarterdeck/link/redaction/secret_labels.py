"""Secrets that are known by the word before them: `PASSWORD=…`, `"api_key": "…"`, `Authorization: Bearer …`."""

from __future__ import annotations

import re

_WORD = (
    r"pass(?:word|wd|phrase|code)?|pwd|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|account[_-]?key"
    r"|auth[_-]?key|encryption[_-]?key|signing[_-]?key|master[_-]?key|license[_-]?key|shared[_-]?key|service[_-]?key"
    r"|storage[_-]?key|deploy[_-]?key|client[_-]?secret|credentials?|auth(?:orization)?|apikey|secretkey|accesskey"
    r"|passwort|contraseña|signature|cookie"
)
LABEL = re.compile(
    rf"(?:.*[_.\s-])?(?:{_WORD})(?:[_-]?(?:value|b64|base64|text|hash))?|.*[a-z](?:Token|Secret|Password|ApiKey|PrivateKey|AccessKey)",
    re.IGNORECASE,
)
"""A name whose value is a secret."""

_SURE_WORD = r"password|passwd|passphrase|passcode|secret|token|api[_-]?key|credentials?"
_NAME = rf"(?:{_SURE_WORD}|(?<![A-Za-z])(?:{_WORD})|(?-i:(?<=[a-z])(?:PrivateKey|AccessKey)))"
_ASSIGNED = re.compile(
    rf"(?P<label>{_NAME}(?:[_-]?(?:value|b64|base64))?)"
    r"(?P<between>[\"']?\s{0,3}(?::=|=>|[:=])\s{0,3})"
    r"(?P<value>\"[^\"\n]{4,4000}\"|'[^'\n]{4,4000}'|[^\s\"'`,;&|<>{}()\[\]]{4,4000})",
    re.IGNORECASE,
)
_FLAG = re.compile(
    rf"(?P<label>--?(?:[\w-]{{0,40}}-)?(?:{_WORD}))(?P<between>[\s=]+)"
    r"(?P<value>\"[^\"\n]{4,4000}\"|'[^'\n]{4,4000}'|[^\s\"'`,;&|<>{}()\[\]-][^\s\"'`,;&|<>{}()\[\]]{3,4000})",
    re.IGNORECASE,
)
_SCHEME = re.compile(
    r"(?P<label>\b(?:bearer|basic|token|apikey|ssws|digest|negotiate))(?P<between>\s+)(?P<value>[A-Za-z0-9+/=_.~:-]{12,4000})",
    re.IGNORECASE,
)
_USER = re.compile(
    r"(?P<label>\s(?:-u|--user)(?:\s+|=)[\"']?[^\s:\"'/]{1,100})(?P<between>:)(?P<value>(?!\d+\b)[^\s\"'/]{4,200})"
)
_NETRC = re.compile(r"(?P<label>\b(?:login|user)\s+\S{1,100}\s+password)(?P<between>\s+)(?P<value>\S{4,200})")
_MYSQL = re.compile(
    r"(?P<label>\b(?:mysql|mysqldump|mariadb|mysqladmin)\b[^\n|;]{0,200}?\s-p)(?P<between>)(?P<value>[^\s\"'-][^\s\"']{3,100})"
)
_SSHPASS = re.compile(
    r"(?P<label>\bsshpass\s+-p)(?P<between>\s*)(?P<value>\"[^\"]{1,200}\"|'[^']{1,200}'|[^\s\"']{1,200})"
)

PLACEHOLDER = re.compile(
    r"(?:[*x•.…_-]+|<.*|\$.*|%.*|\{.*|.*\(.*|.*\[.*|.*⟨redacted⟩.*"
    r"|your[-_ ].*|my[-_]?(?:token|secret|password|key)|example.*"
    r"|change[-_]?me|placeholder|redacted|hidden|none|null|nil|true|false|undefined|required|optional|string|str|bool|int"
    r"|bytes|number|text"
    r"|any|self|value|secret|token|password|key|username|email|default|invalid|missing|expired|empty|enabled|disabled|unknown|basic"
    r"|process\.env.*|os\.environ.*|env\..*|config\..*|settings\..*|self\..*|this\..*|args\..*|options\..*|request\..*|req\..*|ctx\..*"
    r"|secrets\..*|vault\..*|/[^\s]*|\./.*|~/.*|https?://[^@]*|.*\.(?:py|js|ts|tsx|go|rs|json|ya?ml|md|txt|toml|env|pem|key|crt|sh|html|css))",
    re.IGNORECASE,
)
"""A value that says what would be there, or where it comes from."""

NAMES = (
    *("passw", "passp", "passc", "pass:", "pass=", "pass ", 'pass"', "pwd", "secret", "token", "credential", "auth"),
    *("apikey", "api_key", "api-key", "_key", "-key", "accesskey", "privatekey", "secretkey", "accountkey", "authkey"),
    *("signingkey", "masterkey", "sharedkey", "servicekey", "storagekey", "deploykey", "encryptionkey", "licensekey"),
    *("cookie", "contrase", "signature"),
)
SCHEMES = ("bearer", "basic ", "token ", "apikey ", "ssws", "digest ", "negotiate")
PROGRAMS = ("mysql", "maria", "sshpass", "--user", " -u")
HINTS = (*NAMES, *SCHEMES, *PROGRAMS)
"""In lower case: text without any of them has no such word."""


_PLAIN_WORD = re.compile(r"[A-Za-z]+(?:[_.-][A-Za-z]+)*|[A-Z_]+|\d{1,6}|\d+(?:\.\d+)*[a-z%]{0,3}|\d[\d,_]*")
_SURE = re.compile(r"pass(?:word|wd|phrase)?$|pwd$|passwort$", re.IGNORECASE)


def is_secret_value(value: str, *, is_tight: bool, label: str = "") -> bool:
    """True if the value of a secret's name can be one. `is_tight`: it was written as a machine reads it, without a
    space before it. A plain word counts only as a password that is written so: prose has words after a colon."""
    if len(value) < 4 or PLACEHOLDER.fullmatch(value):
        return False
    if _PLAIN_WORD.fullmatch(value):
        return is_tight and bool(_SURE.search(label)) and not value.isupper() and len(value) >= 6
    return len(value) >= 6


def without_labelled(text: str, mark: str, found: list[str] | None = None) -> str:
    """The text with every value after such a word replaced. `found` receives the values."""
    seen = [] if found is None else found

    def hide(match: re.Match[str]) -> str:
        value = match["value"]
        quote = value[0] if value[0] in "\"'" and len(value) > 1 and value[-1] == value[0] else ""
        inner = value[1:-1] if quote else value
        is_tight = bool(quote) or not match["between"] or not match["between"][-1].isspace()
        if not is_secret_value(inner, is_tight=is_tight, label=match["label"]):
            return match[0]
        seen.append(inner)
        return f"{match['label']}{match['between']}{quote}{mark}{quote}"

    def hide_all(match: re.Match[str]) -> str:
        value = match["value"].strip("\"'")
        if PLACEHOLDER.fullmatch(value):
            return match[0]
        seen.append(value)
        return f"{match['label']}{match['between']}{mark}"

    def hide_scheme(match: re.Match[str]) -> str:
        is_word = _PLAIN_WORD.fullmatch(match["value"]) or not any(c.isdigit() or c in "+/=_" for c in match["value"])
        return match[0] if is_word and match["label"].lower() != "bearer" else hide(match)

    lower = text.lower()
    if any(hint in lower for hint in SCHEMES):
        text = _SCHEME.sub(hide_scheme, text)
    if any(hint in lower for hint in PROGRAMS):
        for pattern in (_SSHPASS, _MYSQL, _USER):
            text = pattern.sub(hide_all, text)
    if any(hint in lower for hint in NAMES):
        text = _FLAG.sub(hide, _ASSIGNED.sub(hide, _NETRC.sub(hide_all, text)))
    return text
