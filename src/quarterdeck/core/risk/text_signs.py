"""Signs of harm in SQL statements, and in code on the command line: a pattern, a level, a reason."""

from __future__ import annotations

SQL_STATEMENTS = (
    (
        r"\bdrop\s+(database|schema|keyspace|owned)|dropdatabase\s*\(|\bflush(all|db)\b",
        "critical",
        "deletes a database",
    ),
    (r"\b(drop\s+(table|view|index|column|role|user|type|collection)|truncate)\b|\.drop\s*\(", "high", "drops tables"),
    (
        r"\bdelete\s+from\s+\S+\s*(;|$)|deletemany\s*\(\s*(\{\s*\}\s*)?\)|\.remove\s*\(\s*\{\s*\}",
        "high",
        "deletes every row of a table",
    ),
    (r"\bupdate\s+\S+\s+set\b(?!.*\bwhere\b)", "high", "changes every row of a table"),
    (
        r"\b(delete|update|insert|alter|grant|revoke|create|replace)\b|deletemany|\bdel\b|\bset\b",
        "medium",
        "changes a database",
    ),
)
"""Statements that change a database."""

INLINE_CODE = (
    (
        r"rmtree|os\.(remove|unlink|rmdir)|unlink|fs\.rm|rm(?:dir)?sync|rimraf|fileutils\.rm|file\.delete|shutil\.move",
        "high",
        "code in the line deletes files",
    ),
    (
        r"subprocess|os\.system|os\.popen|child_process|execsync|spawn\(|\bsystem\s*[('\"]|pty\.|`|%x|shell_exec|passthru",
        "high",
        "code in the line runs other programs",
    ),
    (
        r"socket|urllib|requests|http\.client|aiohttp|httpx|https?://|fetch\(|net\.connect|open-uri|net::http|file_get_contents\(.http",
        "high",
        "code in the line uses the network",
    ),
    (
        r"\beval\(|\bexec\(|b64decode|atob\(|marshal|__import__|compile\(|unhexlify",
        "high",
        "code in the line hides what it does",
    ),
    (r"os\.environ|process\.env|\benv\[", "high", "code in the line reads the environment"),
    (
        r"open\([^)]*['\"][wax]|write_text|writefile|file\.write|os\.(rename|chmod|symlink)|>\s*['\"]",
        "medium",
        "code in the line writes files",
    ),
)
"""Signs of what code in a line does."""
