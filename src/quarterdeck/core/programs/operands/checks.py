"""Operands and values of options whose effects depend on their text: one function each, named in the tables.

A check gets the operands, all words of the command (none for the value of an option), the folder, and the number of
operands that a rule names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from quarterdeck.core.programs.grammar import (
    FETCH,
    MORE,
    NAMED,
    OPERAND,
    OUTSIDE,
    PROGRAM,
    SECRET,
    SEND,
    WRITE,
    Effects,
    word_set,
)
from quarterdeck.core.programs.operands import file_checks, scripts, word_checks
from quarterdeck.core.programs.project_paths import Folder, is_inside, passed_on, report, run, written

Check = file_checks.Check

HARMLESS_VARIABLES = word_set(
    "CI NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE TERM COLUMNS LINES LANG LC_ALL LC_CTYPE LC_MESSAGES TZ "
    "DJANGO_DEBUG DEBUG VERBOSE PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED "
    "PYTHONHASHSEED PYTHONUTF8 PYTHONFAULTHANDLER RUST_BACKTRACE RUST_LOG GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS "
    "HUSKY DEBIAN_FRONTEND CARGO_TERM_COLOR PIP_DISABLE_PIP_VERSION_CHECK TESTING PYTEST_DISABLE_PLUGIN_AUTOLOAD "
    "MYPY_FORCE_COLOR COVERAGE NPM_CONFIG_COLOR NEXT_TELEMETRY_DISABLED DO_NOT_TRACK TF_IN_AUTOMATION TF_INPUT "
    "DOTNET_CLI_TELEMETRY_OPTOUT HOMEBREW_NO_AUTO_UPDATE CGO_ENABLED GOOS GOARCH GOARM GO111MODULE CARGO_INCREMENTAL "
    "CARGO_NET_OFFLINE RUST_TEST_THREADS RUST_MIN_STACK NODE_NO_WARNINGS DOCKER_BUILDKIT BUILDKIT_PROGRESS "
    "COMPOSE_DOCKER_CLI_BUILD AWS_REGION AWS_DEFAULT_REGION LOG_LEVEL TF_LOG SKIP PORT QT_QPA_PLATFORM "
    "SOURCE_DATE_EPOCH PIP_NO_INPUT UV_OFFLINE UV_NO_PROGRESS UV_FROZEN GIT_MERGE_AUTOEDIT GOTRACEBACK "
    "NO_UPDATE_NOTIFIER npm_config_loglevel NPM_CONFIG_LOGLEVEL TEST_ENV"
)
"""Variables of the environment that neither name a program or a file nor hold a secret."""
_PLAIN_VALUE = r"(?:[A-Za-z0-9_.:,-]*+|'[A-Za-z0-9_.:,-]*+'|\"[A-Za-z0-9_.:,-]*+\")"
HARMLESS_ASSIGNMENT = re.compile(
    rf"(?:(?:{'|'.join(sorted(HARMLESS_VARIABLES, reverse=True))})={_PLAIN_VALUE}"
    r"|(?:NODE|RAILS|RACK|APP|MIX|FLASK)_ENV=(?:test|testing|dev|development|ci)"
    r"|(?:GIT_|GH_|MAN|AWS_|SYSTEMD_|BAT_|PSQL_)?PAGER=(?:cat|\"\"|'')?(?= |\Z)"
    r"|NODE_OPTIONS=['\"]?--(?:max[-_]old[-_]space[-_]size=\d+|no-warnings|experimental-vm-modules)['\"]?(?= |\Z)"
    r"|RUSTFLAGS=(?:-Dwarnings|\"-D ?warnings\"|'-D ?warnings')(?= |\Z)"
    r"|PYTHONPATH=(?:\./?|(?:\./)?[A-Za-z0-9_][\w-]*(?:/[A-Za-z0-9_][\w-]*)*/?)"
    r"(?::(?:\.|[A-Za-z0-9_][\w-]*))*(?=(?: +[A-Z_]+=[\w.,-]*)* +(?:pytest|py\.test|python3? (?:-m )?[A-Za-z_])))"
)

_GIT_RUNS = re.compile(r"::")
_GIT_KEYS = re.compile(
    r"(?:user\.(?:name|email)|init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote)|color\.\w+|core\.(?:autocrlf|"
    r"eol|safecrlf|filemode|ignorecase|quotepath|longpaths)|fetch\.prune|rerere\.\w+|merge\.(?:ff|conflictstyle)|advice\.\w+|"
    r"log\.\w+|rebase\.(?:autostash|autosquash|updaterefs)|commit\.verbose|branch\.\w+|column\.\w+|blame\.\w+|status\.\w+)\Z",
    re.IGNORECASE,
)
_GIT_SETTINGS = word_set("core.pager=cat core.pager= commit.gpgsign=false tag.gpgsign=false core.editor=true")
_GIT_READS = word_set("--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool -l --list")
_GIT_CHANGES = ("--uns", "--add", "--rep", "--ren", "--rem", "--ed", "-e")
_GIT_SECRETS = re.compile(r"token|passw|secret|extraheader|credential", re.IGNORECASE)
_GIT_ADDRESS = re.compile(r"[/~.]|[^/]*:")
_PLUGINS = word_set(
    "xdist pytest_cov randomly sugar timeout rerunfailures benchmark pytest_mock asyncio anyio django flask "
    "hypothesispytest cacheprovider logging pytester terminal junitxml faulthandler doctest unittest capture"
)
"""Plugins of pytest that are looked up by their entry point before any module of that name."""
_STRATEGIES = word_set("ort recursive resolve octopus ours subtree")
_INI_KEYS = re.compile(
    r"(?:log_cli\w*|log_level|log_format|xfail_strict|console_output_style|asyncio_\w+|faulthandler_timeout|junit_family|"
    r"timeout|truncation_limit_\w+|tmp_path_retention_\w+|verbosity_\w+|cache_dir)="
)
_FIXES = (
    "--fix",
    "--write",
    "--autocorrect",
    "--auto-correct",
    "--in-place",
    "--apply",
    "--suppress-all",
    "--add-noqa",
    "-w",
    "-a",
    "-A",
    "-x",
)
_NATIVE_BUILD = re.compile(
    r"-(?:j ?\d*|k|v|s|n|l\d*)|--(?:verbose|silent|quiet|keep-going|jobs=\d+)|[A-Za-z][\w.:/-]*+|\d+"
)
_SHOW_WORDS = word_set("show list ls lst get help")
_CHECKS_ONLY = frozenset(("--check", "--diff", "--check-only", "--version", "--help", "-h", "--lint"))
_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_SWITCH = re.compile(r"(?!SHELL|MAKE)[A-Z][A-Z0-9_]*=(?:\d+|true|false|yes|no|on|off)")
"""A variable of a Makefile that is switched on or off."""
_MAKE_SETS = re.compile(r"[=*?\[]")
_LINKER = re.compile(r"(?:all=)?(?:-[swNlmS]|-X[ =][\w./-]+=[\w.:+-]*)(?: (?:-[swNlmS]|-X[ =][\w./-]+=[\w.:+-]*))*+\Z")
_BUILD_SENDS = re.compile(
    r"(?:eval|set|session|apply|console|cmd)(?:\s|\Z)|[!~]|(?:.*[:.])?(?:publish\w*|deploy|release|upload\w*|push|exec|yank|login|global|nuget|tool|workload|uninstall|archives?\.install|"
    r"local\.hex|escript\.install|artifactoryPublish|site-deploy|wagon\w*|dependency:get)\Z|exec:"
)
_TEST_FILE = re.compile(r"(?:TEST|SPEC)=([A-Za-z0-9_][\w./-]*+(?::\d+)?)")
"""A variable that chooses the tests that a build tool runs."""
_PROPERTIES = re.compile(
    r":?(?:configuration|platform|version\w*|targetframework|runtimeidentifier|warningsaserrors|treatwarningsaserrors|"
    r"nowarn|debugtype|optimize|selfcontained|publishsinglefile|collectcoverage|coverletoutputformat|threshold)=[\w.,;-]*\Z",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"(?:skip\w*|test|it\.test|maven\.test\.\w+|failIfNoTests|surefire\.\w+|checkstyle\.skip|CMAKE_BUILD_TYPE|BUILD_TESTING|"
    r"BUILD_SHARED_LIBS|CMAKE_EXPORT_COMPILE_COMMANDS|style\.color|org\.slf4j\.\w+)\b"
)
_SECRET_KINDS = re.compile(r"(?:\A|,)(?:secrets?)(?:[./,]|\Z)", re.IGNORECASE)
_SSH_OPTIONS = re.compile(
    r"(?:connecttimeout|batchmode|stricthostkeychecking|serveralive\w+|loglevel|port|user|compression|addressfamily|requesttty|"
    r"numberofpasswordprompts|passwordauthentication|identitiesonly|connectionattempts|tcpkeepalive|quietmode)[= ]",
    re.IGNORECASE,
)
_REPORTERS = word_set(
    "default verbose dot json junit html tap spec basic line list min nyan progress github-actions hanging-process "
    "tap-flat blob null node jsdom happy-dom edge-runtime text lcov doc markdown landing xunit agent tree "
    "jest-junit documentation failures offenses files simple fuubar emacs clang worst pacman quiet stylish compact "
    "unix visualstudio"
)


def _none(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    return 0


def _git_setting(word: str, folder: Folder) -> Effects:
    """A setting for one command (`-c color.ui=never`)."""
    return 0 if _GIT_KEYS.match(word.partition("=")[0]) or word in _GIT_SETTINGS else PROGRAM


def _tests(word: str, folder: Folder) -> Effects:
    """A test file or folder. `@FILE` names a file of further options."""
    return PROGRAM if word[:1] == "@" else run(word, folder)


def _each(judge: Callable[[str, Folder], Effects]) -> Check:
    """Return a check that judges every operand alone, but for those that a rule names."""

    def check(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
        effects = 0
        for word in operands[named:]:
            effects |= judge(word, folder)
        return effects

    return check


def _matches(pattern: re.Pattern[str], other: Effects) -> Check:
    """Return a check for text without effect if the pattern matches its beginning."""
    return _each(lambda word, folder: 0 if pattern.match(word) else other)


def _one_of(words: frozenset[str], other: Effects) -> Check:
    return _each(lambda word, folder: 0 if word in words else other)


def _clone(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    effects = PROGRAM if any("::" in word for word in operands) else 0
    return effects | (written(operands[1], folder) if len(operands) > 1 and named < 2 else 0)


def _git_config(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    given = [word for word in words[1:] if word[:1] == "-"]
    changes = any(word.startswith(_GIT_CHANGES) for word in given)
    if operands[:1] in (["get"], ["list"]) or not _GIT_READS.isdisjoint(given) or not (changes or len(operands) > 1):
        return SECRET if any(map(_GIT_SECRETS.search, operands)) else 0
    elsewhere = any(word.startswith(("--gl", "--sy", "--fi", "-f")) for word in given)
    keys = operands[1:2] if operands[0] in ("set", "unset") else operands[:1]
    effects = WRITE if all(map(_GIT_KEYS.match, keys)) or not operands[1:] else PROGRAM
    return effects | (OUTSIDE if elsewhere else 0)


def _git_remote(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """A repository by its address or folder, which no remote of the project names."""
    effects = _git_url(operands, words, folder, named)
    return effects | (OPERAND if operands and not named and _GIT_ADDRESS.match(operands[0]) else 0)


def _format(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    if not _CHECKS_ONLY.isdisjoint(words) or ("isort" in words[0] and "-c" in words):
        return 0
    return _each(written)(operands, words, folder, named)


def _method(word: str, folder: Folder) -> Effects:
    return 0 if word.upper() in _METHODS else SEND


def _go_run(word: str, folder: Folder) -> Effects:
    return PROGRAM | FETCH if "@" in word else run(word, folder)


def _fixer(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """Files that a tool looks at, and writes if an option says so."""
    return _each(written)(operands, words, folder, named) if any(word.startswith(_FIXES) for word in words) else 0


def _override(word: str, folder: Folder) -> Effects:
    value = word.partition("=")[2]
    return PROGRAM if not _INI_KEYS.match(word) else written(value, folder) & ~WRITE if value[:1] in "/~." else 0


def _inside(word: str, folder: Folder) -> Effects:
    """A value of a tool that runs the project's code: whatever it is, it names no file elsewhere."""
    if "/" not in word and "~" not in word and ".." not in word:
        return 0
    path = word if word[:1] in "/~." else re.split("[:=]", word, maxsplit=1)[-1]
    leaves = path[:1] in ("/", "~") or path[:2] == ".." or "/.." in path
    return PROGRAM if leaves and path != "/dev/null" and not is_inside(path, folder) else 0


def _names_tests(word: str, folder: Folder) -> bool:
    """True for a variable that chooses a test of the project."""
    test = _TEST_FILE.fullmatch(word)
    return test is not None and is_inside(test[1], folder)


def _linter(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """Files of a tool that reads its configuration, which may be code, beside them."""
    return _fixer(operands, words, folder, named) | _each(_go_package)(operands, words, folder, named)


def _go_package(word: str, folder: Folder) -> Effects:
    """A folder with its code; `...` means the folders below too."""
    return run(word.removesuffix("...").rstrip("/") or ".", folder)


def _build_words(word: str, folder: Folder) -> Effects:
    if word[:1] in ("/", "~", ".") and word[:2] != "//" and not is_inside(word, folder):
        return PROGRAM
    if _names_tests(word, folder):
        return 0
    return PROGRAM | SEND if word[:1] == "@" or _BUILD_SENDS.match(word) or ("=" in word and word[:1] != ":") else 0


def _httpie(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    sends = any(word.isupper() and word not in _METHODS for word in operands[:1])
    items = operands[2:] if operands and operands[0].isupper() else operands[1:]
    return FETCH | (SEND if sends or any(re.search(r"(?<!=)[:=@]=?(?!=)", item) for item in items) else 0)


def _environment(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    if all(word[:1] == "-" or "=" in word for word in words[1:]):
        return SECRET
    return PROGRAM if any("=" in word and not HARMLESS_ASSIGNMENT.fullmatch(word) for word in operands) else 0


def _sources(word: str, folder: Folder) -> Effects:
    """A file of further options begins with an at sign."""
    return PROGRAM if word[:1] == "@" else 0


def _unit(word: str, folder: Folder) -> Effects:
    return PROGRAM if "/" in word else 0


def _processes(operands: Sequence[str], words: Sequence[str], folder: Folder, named: int) -> Effects:
    """Letters without a dash are options of BSD: `e` shows the environment of each process, as `-E` does on macOS."""
    for before, word in pairwise(words):
        is_value = before[-1] in "CuUoOptgGsq" and (before[:1] == "-" or before.isalpha()) and before != words[0]
        if not is_value and (("e" in word and word.isalpha()) or ("E" in word and word[:1] == "-" != word[1:2])):
            return SECRET
    return 0


_git_url = _each(lambda word, folder: PROGRAM if _GIT_RUNS.search(word) else 0)

CHECKS: Mapping[str, Check] = {
    "git_urls": _git_url,
    "git_remote": _git_remote,
    "clone": _clone,
    "git_config": _git_config,
    "git_setting": _each(_git_setting),
    "strategy": _one_of(_STRATEGIES, PROGRAM),
    "tests": _each(_tests),
    "tfout": _each(lambda word, folder: report(word, folder) and written(word, folder) | OUTSIDE),
    "plugin": _each(lambda word, folder: 0 if word.startswith("no:") or word in _PLUGINS else PROGRAM),
    "warning": _each(word_checks.warning),
    "override": _each(_override),
    "inside": _each(_inside),
    "cov_report": _each(word_checks.coverage_report),
    "folder": _none,
    "format": _format,
    "packages": _each(word_checks.package),
    "npm_packages": _each(word_checks.npm_package),
    "package": _each(word_checks.package),
    "method": _each(_method),
    "make": _each(
        lambda word, folder: (
            PROGRAM
            if _MAKE_SETS.search(word)
            and not (HARMLESS_ASSIGNMENT.fullmatch(word) or _SWITCH.fullmatch(word) or _names_tests(word, folder))
            else 0
        )
    ),
    "shows": lambda operands, words, folder, named: 0 if _SHOW_WORDS.issuperset(operands[:1]) else OUTSIDE,
    "property": _matches(_PROPERTIES, PROGRAM),
    "fixer": _fixer,
    "linter": _linter,
    "cloud": file_checks.cloud,
    "cloud_copy": file_checks.cloud_copy,
    "zip": file_checks.zipped,
    "uploads": lambda operands, words, folder, named: _each(passed_on)(operands[1:], words, folder, max(named - 1, 0)),
    "text": _each(word_checks.passed_on_text),
    "report": _each(report),
    "ruff_config": _each(word_checks.ruff_config),
    "db_host": _each(word_checks.database_host),
    "diff": _each(word_checks.compared),
    "endpoint": _each(lambda word, folder: SECRET if "://" in word else 0),
    "native": _matches(re.compile(rf"(?:{_NATIVE_BUILD.pattern})\Z"), PROGRAM),
    "cmake_target": _each(lambda word, folder: OUTSIDE if "install" in word else _build_words(word, folder)),
    "ansible": _each(lambda word, folder: run(word.removeprefix("@"), folder) if word[:1] == "@" else 0),
    "ldflags": _matches(_LINKER, PROGRAM),
    "go_run": _each(_go_run),
    "build_words": _each(_build_words),
    "define": _matches(_DEFINES, PROGRAM),
    "compiler": _each(word_checks.compiler),
    "volume": _each(word_checks.volume),
    "mount": _each(word_checks.mount),
    "network": _each(word_checks.network),
    "context": _each(word_checks.build_context),
    "image": _each(lambda word, folder: OPERAND),
    "resources": _each(lambda word, folder: SECRET if _SECRET_KINDS.search(word) else 0),
    "manifests": _none,
    "manifest": _each(word_checks.manifest),
    "chart": _each(word_checks.chart),
    "buildx": _each(word_checks.build_output),
    "urls": _each(word_checks.url_effects),
    "url": _each(word_checks.url_effects),
    "header": _each(word_checks.header),
    "cookie": _each(lambda word, folder: 0 if "=" in word else SECRET),
    "write_out": _each(word_checks.write_out),
    "httpie": _httpie,
    "ssh_option": _matches(_SSH_OPTIONS, PROGRAM),
    "rsh": _each(word_checks.remote_shell),
    "rsync": file_checks.rsync,
    "sed": file_checks.in_place(scripts.sed, "--in"),
    "awk": scripts.awk,
    "jq": file_checks.in_place(scripts.jq, "--in-place"),
    "yq": file_checks.in_place(scripts.yq, "--in"),
    "less": _each(word_checks.less_command),
    "find_starts": _none,
    "tar": file_checks.tar,
    "archive": _each(file_checks.archive),
    "copy": file_checks.copy,
    "chmod": file_checks.chmod,
    "sql": scripts.sql,
    "psql": lambda operands, words, folder, named: (
        scripts.database(operands, words, folder, named)
        | _each(lambda word, place: word_checks.database_host(word, place) if "=" in word or "://" in word else 0)(
            operands, words, folder, 0
        )
    ),
    "mysql": scripts.database,
    "sqlite": scripts.sqlite,
    "redis": scripts.redis,
    "pset": _each(lambda word, folder: PROGRAM if "pager" in word else 0),
    "sources": _each(_sources),
    "units": _each(_unit),
    "env": _environment,
    "reporter": _one_of(_REPORTERS, PROGRAM),
    "formatter": _each(word_checks.formatter),
    "python": _each(word_checks.interpreter),
    "gh_repo": _each(word_checks.repository),
    "named_context": _each(lambda word, folder: word_checks.build_context(word.partition("=")[2] or ".", folder)),
    "tar_folder": _each(lambda word, folder: written(word.rstrip("/") or "/", folder) & ~WRITE),
    "more_manifests": _each(lambda word, folder: MORE | word_checks.manifest(word, folder)),
    "ps": _processes,
    "date": lambda operands, words, folder, named: (
        OUTSIDE if "-j" not in words and any(word[:1] != "+" for word in operands) else 0
    ),
    "last_file": file_checks.last_file,
    "go_package": _each(_go_package),
    "log": _each(lambda word, folder: 0 if word.isdigit() else written(word, folder) | NAMED),
    "classpath": _each(lambda word, folder: max(run(part or ".", folder) for part in word.split(":"))),
    "emit": _each(lambda word, folder: written(word.partition("=")[2], folder) if "=" in word else 0),
    "rustfmt": _each(lambda word, folder: 0 if word[:1] == "-" else written(word, folder)),
    "format_name": _each(lambda word, folder: PROGRAM if ".lua" in word.lower() or "/" in word else 0),
    "inventory": _each(lambda word, folder: PROGRAM if "," in word else run(word, folder)),
    "set_file": _each(lambda word, folder: passed_on(word.partition("=")[2] or word, folder)),
    "secret_key": _each(lambda word, folder: SECRET if _GIT_SECRETS.search(word) or "auth" in word else 0),
    "gh_item": _each(lambda word, folder: word_checks.repository(word, folder) if "://" in word else 0),
    "web_files": _each(word_checks.web_file),
    "system_package": _each(word_checks.system_package),
    "module_files": _each(lambda word, folder: written(word, folder) & ~WRITE),
}

ANY_ORDER = word_set(
    "urls web_files gh_item go_package linter git_remote tests make resources build_words packages npm_packages image "
    "context manifests units sources endpoint diff git_urls"
)
"""Checks that judge each operand alone, wherever the options are."""
