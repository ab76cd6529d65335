"""Rules of the source tree, as functions over its files: room sizes, names, docstrings, banned words.

Each returns one line per problem, so that a test can show that a rule sees a breach."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

Tree = Mapping[str, str]
"""The text of each module, by its path below the package, such as `core/reduce.py`."""

MOST_ENTRIES = 12
FEWEST_ENTRIES = 3
MOST_LINES = 400

SHARED_NAMES = {
    *("app", "main", "base", "registry", "files", "messages", "launcher", "session"),
    # one feature in each layer
    *("answer", "audit", "backend", "decisions", "devices", "extensions", "health", "install", "mcp", "plugins"),
    *("projects", "queries", "remember", "request_card", "requests", "rules", "sessions"),
    *("start_session", "tokens", "usage", "worktrees"),
}
"""Module names that may occur in more than one folder: conventional ones, and features with a part in each layer."""

NOT_GERUNDS = {"routing"}
PARTICIPLE = re.compile(r"_?([A-Z][a-z]+ed|Bound|Chosen|Found|Given|Heard|Held|Known|Lost|Seen|Sent|Spoken|Told|Typed)")
"""A class name that is one word and no noun."""
IDENTIFIERS = re.compile(
    r"^(faces?|ours|told|brings?|bringing|brought|crew|kits?|ears|deeds?|anew|mend(s|ed|ing)?|shall)$"
)
PROSE = re.compile(
    r"\b(mend(s|ed|ing)?|anew|deeds?|for ever|on wish|of ours|for us|whoever|somebody|taken apart|at its word"
    r"|(the|this) face|faces|shall|kits?|crew)\b",
    re.I,
)
PRIVATE_NAMES = frozenset({"asked", "deaf", "dice", "ear", "hands", "heard", "nursery", "said", "spoken", "way"})
"""Names that do not say what a value is; a whole name, because as a part of a name they are ordinary words."""
CODE = re.compile(r"`[^`]*`|--anew\b|[\"?&]anew\b")
"""Code spans, and the one option and query parameter that keep an old word because clients use it."""
QUESTION = re.compile(r"(What|Who|Whose|Whether|Which|Where|When|How|That)\b")


def rooms(tree: Tree, exceptions: Mapping[str, str]) -> Iterator[str]:
    """Every folder holds 3 to 12 modules and packages."""
    entries: dict[str, set[str]] = defaultdict(set)
    for path in tree:
        parts = PurePosixPath(path).parts
        for depth in range(1, len(parts)):
            entries["/".join(parts[:depth])].add(parts[depth])
    for folder, names in sorted(entries.items()):
        count = len({name for name in names if name != "__init__.py"})
        if not FEWEST_ENTRIES <= count <= MOST_ENTRIES and folder not in exceptions:
            yield f"{folder}/ holds {count} modules and packages; {FEWEST_ENTRIES} to {MOST_ENTRIES} make a room"


def lengths(tree: Tree, exceptions: Mapping[str, str]) -> Iterator[str]:
    """Every file has at most 400 lines."""
    for path, text in sorted(tree.items()):
        if (lines := text.count("\n")) > MOST_LINES and path not in exceptions:
            yield f"{path} has {lines} lines, more than {MOST_LINES}"


def signs(tree: Tree, other_folders: Collection[str] = ()) -> Iterator[str]:
    """Every package says what it is and names its modules, one line each, and holds nothing else but a version."""
    for path, text in sorted(tree.items()):
        if not path.endswith("__init__.py"):
            continue
        body = ast.parse(text).body
        doc = ast.get_docstring(ast.parse(text)) or ""
        folder = path.removesuffix("__init__.py")
        if not doc or any(not isinstance(node, ast.Expr | ast.Assign) for node in body) or len(body) > 2:
            yield f"{path} holds more or less than a docstring"
        below = [p.removeprefix(folder) for p in [*tree, *other_folders] if p.startswith(folder) and p != path]
        named = {n.partition("/")[0].removesuffix(".py") for n in below}
        for name in sorted(named):
            if not re.search(rf"^{re.escape(name)}/?(  +\S|$)", doc, re.M):
                yield f"{path} does not name {name}"
        for name in re.findall(r"^([a-z_0-9]+)/?  +\S", doc, re.M):
            if name not in named:
                yield f"{path} names {name}, which is not there"


def module_names(tree: Tree, exceptions: Mapping[str, str]) -> Iterator[str]:
    """A module is a noun, and its name occurs once."""
    names = Counter(PurePosixPath(path).stem for path in tree if not path.endswith("__init__.py"))
    for path in sorted(tree):
        stem = PurePosixPath(path).stem
        if path in exceptions or stem == "__init__":
            continue
        if stem.endswith("ing") and stem not in NOT_GERUNDS:
            yield f"{path}: a module is a noun, not a gerund"
        if names[stem] > 1 and stem not in SHARED_NAMES and stem != "__main__":
            yield f"{path}: {names[stem]} modules are called {stem}"


def class_names(tree: Tree) -> Iterator[str]:
    """A class name is unique."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, text in sorted(tree.items()):
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path)
    for name, paths in sorted(places.items()):
        if len(paths) > 1 and not name.startswith("_"):
            yield f"class {name} occurs in {', '.join(paths)}"


def participles(tree: Tree, exceptions: Mapping[str, str]) -> Iterator[str]:
    """A class is called by a noun, and not by what happened to it; an error and a message between widgets may be."""
    for path, text in sorted(tree.items()):
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.ClassDef) or not PARTICIPLE.fullmatch(node.name) or node.name in exceptions:
                continue
            if not any(re.search(r"(Error|Exception|Message)$", ast.unparse(base)) for base in node.bases):
                yield f"{path}:{node.lineno}: class {node.name} is no noun"


def identifiers(path: str, text: str) -> Iterator[str]:
    """Every name that a module defines or uses, with its line."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield f"{node.lineno} {name}"
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield f"{node.lineno} {name}"


def banned_identifiers(tree: Tree) -> Iterator[str]:
    """No identifier uses a word of the private vocabulary."""
    for path, text in sorted(tree.items()):
        for found in sorted(set(identifiers(path, text)), key=lambda entry: int(entry.split()[0])):
            line, name = found.split()
            words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
            if any(IDENTIFIERS.match(word.lower()) for word in words):
                yield f"{path}:{line}: {name}"


def private_names(tree: Tree, exceptions: Mapping[str, str]) -> Iterator[str]:
    """No variable, argument, attribute, function or class is called by a private word alone."""
    for path, text in sorted(tree.items()):
        if path in exceptions:
            continue
        for node in ast.walk(ast.parse(text)):
            match node:
                case (
                    ast.Name(id=name, ctx=ast.Store())
                    | ast.Attribute(attr=name, ctx=ast.Store())
                    | ast.arg(arg=name)
                    | ast.FunctionDef(name=name)
                    | ast.AsyncFunctionDef(name=name)
                    | ast.ClassDef(name=name)
                ):
                    if name.lower() in PRIVATE_NAMES:
                        yield f"{path}:{node.lineno}: {name}"


def banned_prose(texts: Tree) -> Iterator[str]:
    """No text uses a word that a native reader stumbles over."""
    for path, text in sorted(texts.items()):
        for number, line in enumerate(text.splitlines(), 1):
            if found := PROSE.search(CODE.sub("", line)):
                yield f"{path}:{number}: {found[0]!r}"


def docstrings(tree: Tree) -> Iterator[tuple[str, str]]:
    """Every docstring, with where it is."""
    for path, text in sorted(tree.items()):
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    if doc := ast.get_docstring(node):
                        yield f"{path}:{getattr(node, 'lineno', 1)}", doc


def questions(tree: Tree) -> tuple[int, list[str]]:
    """How many docstrings there are, and those that begin with a question word."""
    found = list(docstrings(tree))
    return len(found), [where for where, doc in found if QUESTION.match(doc)]


CACHE_OR_LOCK = re.compile(
    r"\s*@(functools\.)?((lru_)?cache|cached_property)\b|\s*self\._cache(: .*)? = |.*= (asyncio|threading)\.R?Lock\(\)"
)


def caches_and_locks_without_reason(tree: Tree) -> Iterator[str]:
    """A cache and a lock say why they are there: in a comment on their line or right above."""
    for path, text in sorted(tree.items()):
        lines = text.splitlines()
        for number, line in enumerate(lines):
            needs_reason = CACHE_OR_LOCK.match(line)
            if needs_reason and "#" not in line and not lines[number - 1].lstrip().startswith("#"):
                yield f"{path}:{number + 1}: a cache or a lock without a reason"


def agent_names(tree: Tree, names: Collection[str], exceptions: Mapping[str, str]) -> Iterator[str]:
    """No string outside an agent's own folders is the name of one of its hooks or tools, or says one that is no
    ordinary word. An example of a rule, as `Bash(git log:*)`, is in the rule language."""
    mentions = re.compile(r"(?<![\w-])(" + "|".join(sorted(filter(_is_no_word, names))) + r")\b(?!\()")
    for path, text in sorted(tree.items()):
        if path in exceptions or re.match(r"(agents|drivers)/[^/]+/", path):
            continue
        module = ast.parse(text)
        docs = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
        for node in ast.walk(module):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docs:
                continue
            if node.value in names or mentions.search(node.value):
                yield f"{path}:{node.lineno}: {node.value[:60]!r} names a hook or a tool of an agent"


def _is_no_word(name: str) -> bool:
    return name == "Bash" or len(re.findall(r"[A-Z][a-z]+", name)) > 1


def untested(modules: Iterable[str], tests: Iterable[str]) -> set[str]:
    """The modules that have no test file of their name in the mirrored folder."""
    have = set(tests)
    return {m for m in modules if not m.endswith("__init__.py") and mirrored(m) not in have}


def mirrored(module: str) -> str:
    path = PurePosixPath(module)
    return str(path.with_name(f"test_{path.name}"))


def stray(tests: Iterable[str], modules: Iterable[str], exceptions: Mapping[str, str]) -> Iterator[str]:
    """A unit test is named after the module it tests."""
    have = {mirrored(module) for module in modules}
    for test in sorted(tests):
        if test not in have and test not in exceptions:
            yield f"tests/unit/{test} tests no module of its name"
