"""What scripts and statements inside a command do: those of sed, awk, jq, yq and SQL, as far as they are read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quarterdeck.core.programs.grammar import OUTSIDE, PROGRAM, SECRET, SEND, Effects, word_set
from quarterdeck.core.programs.project_paths import Folder

# A bracket with the delimiter in it is left out: whether it ends the expression differs between versions of sed.
_BRACKETS = r"\[\^?+[^]\\\n/|,#\[]++\]"
_ADDRESS = rf"(?:\d+|\$|/(?:[^/\\\n\[]|\\[^\n]|{_BRACKETS})*+/)"
# Printing, deleting, quitting and substituting. `w`, `e`, `r` and everything unknown count as unsafe.
_SED_SAFE = re.compile(
    rf"(?:\s*+(?:{_ADDRESS}(?:,\+?{_ADDRESS})?)?+\s*+(?:!\s*+)?+"
    rf"(?:[pdq=]|s([/|,#])(?:(?!\1)[^\\\n\[]|{_BRACKETS}|\\[^\n])*+\1(?:(?!\1)[^\\\n]|\\[^\n])*+\1[gpiI0-9]*+)"
    r"\s*+(?:;|\Z))++\s*+"
)
# Calls, pipes, files, loads, indirect calls, the environment.
_AWK_UNSAFE = re.compile(r"system|getline|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|ARG[VC]|[@`]|(?<!\|)\|(?!\|)")
_AWK_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*+"')
_AWK_COMPARED = re.compile(r"(?:[\w$)\]]|NF|NR)\s*+>=?\s*+(?:[\w$(.+-]|NF|NR)")
_JQ_UNSAFE = re.compile(r"\benv\b|\$ENV|\bimport\b|\binclude\b|\binput_filename\b|\$__prog_args|\bget_search_list\b")
_YQ_UNSAFE = re.compile(
    r"\bload\w*+\s*+\(|\b(?:str)?env\w*+\s*+\(|\benvsubst\b|\bsystem\b|\benv\b|\$ENV|\bfilename\b.*split_doc"
)
_SQL_READS = re.compile(
    r"\s*+(?:(?:select|explain|show|describe|desc|with|values|table)\b|pragma\s+\w+\s*+;?\s*+\Z"
    r"|pragma\s+(?:table_x?info|index_list|index_x?info|foreign_key_list)\s*+\([\w\s]*+\)\s*+\Z)",
    re.IGNORECASE,
)
_SQL_CHANGES = re.compile(
    r"\b(?:insert|update|delete|drop|alter|create|truncate|grant|revoke|copy|into|call|do|execute|attach|detach|vacuum|"
    r"reindex|replace|merge|set|load|import|lock|refresh|cluster|comment|security|listen|notify|prepare|reassign|analyze|"
    r"kill|shutdown|flush|reset|purge|handler|install|uninstall|dblink\w*|lo_\w+|uescape|"
    r"pg_(?!(?:size_pretty|total_relation_size|relation_size|table_size|indexes_size|database_size|column_size|get_\w+|"
    r"typeof|backend_pid|stat_get\w+|is_in_recovery|postmaster_start_time|encoding_to_char|table_is_visible|"
    r"blocking_pids|current_\w+|tablespace_size|conf_load_time)\b)\w+(?=\s*+\()|load_file|load_extension|readfile|"
    r"writefile|edit|fts3_tokenizer|sys_(?:exec|eval)|xp_\w+|setval|nextval|set_config|query_to_xml\w*|nonce)\b",
    re.IGNORECASE,
)
_SQL_TEXTS = re.compile(r"'(?:[^']|'')*+'|(?P<name>\"(?:[^\"]|\"\")*+\"|`[^`]*+`|\[[^\]]*+\])")
"""Texts, and names or texts in other quotes, which differ between databases."""
_SQL_QUOTES = re.compile(r"['\";\[\]`]")
_PSQL_LOOKS = re.compile(
    r"\s*+\\(?:d\w*\+?|l\+?|dt\S*|conninfo|z|sf|sv|x|timing|encoding|\?|h)(?:\s+[\w.*\"?-]+)*+\s*+\Z"
)
_SQLITE_LOOKS = re.compile(
    r"\s*+\.(?:tables?|schema|indexes|indices|databases|dbinfo|fullschema|headers?|mode|show|help)\b[^|\n]*+\Z"
)
_REDIS_READS = word_set(
    "get mget keys scan ping info ttl pttl type llen lrange lindex hgetall hget hkeys hlen hmget hvals smembers "
    "scard sismember zrange zcard zscore zcount exists dbsize strlen getrange xlen xrange xinfo time echo bitcount "
    "pfcount sscan hscan zscan randomkey lastsave role object dump"
)


_REDIS_SETTING = re.compile(r"(?!.*(?:pass|auth))[a-z][a-z-]*", re.IGNORECASE)


def sed(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """The effects of a sed script: the first operand, unless an option or a rule gives it."""
    if not words:  # the value of an option
        return 0 if _SED_SAFE.fullmatch(operands[0]) else PROGRAM
    if named or any(
        (word[:2] in ("-e", "-f", "-n") and "e" in word) or word.startswith("--expr") for word in words[1:]
    ):
        return 0
    return 0 if not operands or _SED_SAFE.fullmatch(operands[0]) else PROGRAM


def awk(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """The effects of an awk program: the first operand."""
    return 0 if named or not operands or is_safe_awk(operands[0]) else PROGRAM


def is_safe_awk(program: str) -> bool:
    """True if an awk program only computes and prints. A `>` compares if it is in front of the first `print`, between
    two values; anywhere else it may write a file."""
    bare = _AWK_TEXTS.sub('""', program)
    before = bare.partition("print")[0]
    return not _AWK_UNSAFE.search(bare) and bare.count(">") == len(_AWK_COMPARED.findall(before))


def jq(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """The effects of a jq filter. Every operand is searched: which one is the filter depends on the options."""
    return SECRET if any(_JQ_UNSAFE.search(word) for word in operands) else 0


def yq(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """The effects of a yq expression: it may read the environment and other files."""
    return SECRET if any(_YQ_UNSAFE.search(word) for word in operands) else 0


def sql(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """The effects of statements: none if each only reads."""
    effects = 0
    for text in operands:
        if not _is_query(text):
            effects |= PROGRAM | SEND
    return effects


def _is_query(text: str) -> bool:
    if _PSQL_LOOKS.fullmatch(text) or _SQLITE_LOOKS.fullmatch(text):
        return True
    if any("'" in found["name"] or '"' in found["name"][1:-1] for found in _SQL_TEXTS.finditer(text) if found["name"]):
        return False  # a quote within other quotes: databases differ on where the text ends
    bare = _SQL_TEXTS.sub(lambda found: _SQL_QUOTES.sub(" ", found["name"]) if found["name"] else "''", text)
    statements = [statement for statement in bare.split(";") if statement.strip()]
    return (
        "\\" not in bare
        and "--" not in bare
        and "#" not in bare
        and "/*" not in bare
        and "$$" not in bare
        and all(_SQL_READS.match(statement) and not _SQL_CHANGES.search(statement) for statement in statements)
    )


_GIVES_STATEMENT = {
    "psql": re.compile(r"-[^-hpUdFPRTfoLv]*[cl]|-[V?]|--(?:command|list|version|help)\b"),
    "mysql": re.compile(r"-[^-hPuDSp]*e|-[V?]|--(?:execute|version|help)\b"),
}


def database(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """The effects of a client that reads statements from its input unless an option gives one."""
    gives = _GIVES_STATEMENT["psql" if "psql" in words[0] else "mysql"]
    given = any(map(gives.match, words[1:]))
    return 0 if given else PROGRAM


def sqlite(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """The effects of SQLite's statements and dot commands, which follow the name of the file."""
    if len(operands) < len(("file", "statement")):
        return 0 if any("version" in word or "help" in word for word in words[1:]) else PROGRAM
    return sql([operand for at, operand in enumerate(operands) if at >= max(named, 1)], words, folder, 0)


def redis(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """The effects of a Redis command: the first operand."""
    if not operands:
        return (
            0
            if any(word in ("--version", "--help", "--bigkeys", "--scan", "--stat", "--latency") for word in words)
            else PROGRAM
        )
    if [word.lower() for word in operands[:2]] == ["config", "get"] and not _REDIS_SETTING.fullmatch(
        "".join(operands[2:])
    ):
        return SECRET
    if operands[0].lower() in _REDIS_READS or [word.lower() for word in operands[:2]] in (
        ["config", "get"],
        ["client", "list"],
        ["memory", "usage"],
        ["slowlog", "get"],
        ["cluster", "info"],
    ):
        return 0
    return SEND | (OUTSIDE if operands[0].lower() in ("config", "debug", "module", "shutdown") else 0)
