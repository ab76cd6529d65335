"""The risk that follows from the grammar of a program: forms that only show something, and effects elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from quarterdeck.core.programs.command_effects import WordEffects, command_effects, effect_text
from quarterdeck.core.programs.grammar import (
    FETCH,
    MORE,
    OPERAND,
    OUTSIDE,
    PROGRAM,
    PROJECT,
    SECRET,
    SEND,
    UNKNOWN,
    word_set,
)
from quarterdeck.core.programs.registry import known_programs, program
from quarterdeck.core.risk.command_table import PROJECT_TOOLS
from quarterdeck.core.risk.file_risk import RiskReason
from quarterdeck.core.risk.path_zones import AgentLocation
from quarterdeck.core.shell.script import Call
from quarterdeck.core.text.amounts import cut

_HELP = word_set("--help --version -help -version")
_ALONE = _HELP | word_set("-h -V -v help version")
_STARTS_OTHERS = word_set(
    "ssh docker podman nerdctl npx bunx pnpx uvx pipx npm pnpm yarn bun uv poetry sudo doas env xargs timeout nice "
    "python python3 node ruby perl php deno bash sh zsh kubectl oc su watch time eval exec"
)
"""Programs whose later words may be those of another program, so that `--help` among them says little."""
_SHOWS = {
    "crontab": word_set("-l"),
    "kill": word_set("-l -L -0"),
    **dict.fromkeys(("pkill", "killall"), word_set("-0 -l")),
    **dict.fromkeys(("nc", "ncat"), word_set("-z -zv -vz")),
    "mount": word_set("-l"),
    "sysctl": word_set("-a -A --all"),
    "hostnamectl": word_set("status"),
    "timedatectl": word_set("status show"),
    "localectl": word_set("status"),
    "dpkg": word_set("-l -L -s -S"),
    "rpm": word_set("-qa -qi -ql -q"),
    "pacman": word_set("-Q -Qi -Ql -Qs -Ss"),
    "ssh-add": word_set("-l -L"),
    "ssh-keygen": word_set("-l -lf -lv -lvf -F -B"),
    "ufw": word_set("status"),
}
"""Words with which a program that changes this machine only shows something; without any, it shows something too."""
_NEEDS_WORD = word_set("crontab kill pkill killall nc ncat dpkg rpm pacman ssh-add ssh-keygen ufw")
_REHEARSALS = word_set("--dry-run --dryrun --what-if --noop --syntax-check --list-tasks --list-hosts --simulate")
_REHEARSES = {
    **dict.fromkeys(
        ("git", "kubectl", "oc", "helm", "npm", "pnpm", "yarn", "cargo", "aws", "rsync", "pip", "uv", "poetry")
    ),
    **dict.fromkeys(
        ("apt", "apt-get", "docker-compose", "flutter", "gem", "twine", "ansible", "ansible-playbook", "salt")
    ),
}
"""Programs that know one of these options."""
_STEERS_ELSEWHERE = word_set(
    "gh glab aws gcloud az kubectl oc helm terraform tofu terragrunt heroku fly flyctl vercel netlify wrangler "
    "firebase railway supabase doctl hcloud linode-cli scw oci pulumi cdk serverless sls eb redis-cli"
)
"""Programs whose subcommands their grammar tells apart: what only asks is medium, everything else is high."""
_WRITES_TO_A_FORGE = {
    (kind, verb) for kind in ("pr", "mr", "issue") for verb in ("create", "new", "comment", "edit", "reopen")
} | {("run", "rerun"), ("pr", "ready"), ("pr", "update-branch")}
"""Subcommands that only write what others see, and can be undone."""
_DEPLOYS_ALONE = word_set("vercel serverless sls")
_PACKAGE_RUNNERS = {
    **dict.fromkeys(("npx", "bunx", "pnpx", "uvx"), ()),
    "pipx": ("run", "install"),
    "npm": ("exec", "x"),
    "pnpm": ("dlx",),
    "yarn": ("dlx",),
    "bun": ("x",),
}
_FETCHES_CODE = {
    "go": ("run", "install"),
    "deno": ("run", "install", "eval", "serve"),
    "cargo": ("install",),
    "gem": ("install",),
    "npm": ("install", "i", "add"),
    "pnpm": ("add", "install"),
    "yarn": ("add",),
    "bun": ("add", "install"),
}
_ADDRESS = ("http://", "https://", "git+", "git://", "github:", "git@", "ssh://")


def only_shows(call: Call, name: str) -> bool:
    """True for a form that only shows help, a version or a status, whatever the program does otherwise."""
    words = call.words[1:]
    if words and _ALONE.issuperset(words):
        return name not in ("source", ".")
    shows = _SHOWS.get(name)
    if shows is not None:
        return bool(shows.intersection(words)) if words or name in _NEEDS_WORD else True
    # A value may follow: `cargo yank --version 1.0.0`.
    return name not in _STARTS_OTHERS and "--" not in words and not _HELP.isdisjoint((*words[:1], *words[-1:]))


def rehearses(call: Call, name: str) -> bool:
    """True if the command only says what it would do."""
    words = call.words[1:]
    if name not in _REHEARSES:
        return False
    if name == "rsync" and _short(words, "n"):
        return True
    if name == "git":
        return bool(words) and ((words[0] == "clean" and _short(words, "n")) or "--dry-run" in words)
    if name.startswith("ansible"):
        return "--check" in words or "-C" in words or not _REHEARSALS.isdisjoint(words)
    options = {word.partition("=")[0] for word in words if word not in ("--dry-run=none", "--dry-run=false")}
    return not _REHEARSALS.isdisjoint(options)


def _short(words: tuple[str, ...], letter: str) -> bool:
    return any(word[:1] == "-" != word[1:2] and letter in word for word in words)


def only_asks(call: Call, name: str, location: AgentLocation) -> bool:
    """True if a program that steers something elsewhere only asks it."""
    if name not in _STEERS_ELSEWHERE or (name in _DEPLOYS_ALONE and not _plain(call)):
        return False
    return not command_effects(call.words, location.cwd) & ~(FETCH | PROJECT)


def _plain(call: Call) -> list[str]:
    return [word for word in call.words[1:] if word[:1] != "-"]


def effect_reasons(call: Call, name: str, location: AgentLocation) -> Iterator[RiskReason]:
    """Yield the risks that the grammar tells: changes elsewhere, credentials, code that is fetched and run."""
    yield from _fetched_code(call, name)
    if program(call.words[0]) is None:
        return
    found: list[WordEffects] = []
    effects = command_effects(call.words, location.cwd, 0, found)
    if name in _STEERS_ELSEWHERE:
        if only_asks(call, name, location):
            yield RiskReason("medium", f"asks another service ({_words(call)})")
        elif any(word.effects & UNKNOWN and word.word[:1] != "-" for word in found):
            yield RiskReason("high", f"may change something elsewhere ({_words(call)})")
        elif not effects & ~(SEND | FETCH) and tuple(_plain(call)[:2]) in _WRITES_TO_A_FORGE:
            return
        elif effects & (SEND | SECRET | PROGRAM | OPERAND) or name in _DEPLOYS_ALONE:
            yield RiskReason(
                "high", f"{effect_text(effects & ~(UNKNOWN | MORE)) or 'changes what is online'} ({_words(call)})"
            )
    elif name == "git":
        yield from _git(call, found)
    elif name in ("docker", "podman", "nerdctl") and any(
        word.effects & OUTSIDE and word.word[:1] == "-" for word in found
    ):
        yield RiskReason("high", f"a container with power over this machine ({_words(call)})")


def _git(call: Call, found: list[WordEffects]) -> Iterator[RiskReason]:
    """Options and settings of git that run a program."""
    path = {"git " + " ".join(call.words[1 : 1 + size]) for size in range(1, 4)}
    steering = [word.word for word in found if word.effects & (PROGRAM | OPERAND) and word.word not in path]
    if steering and not {"foreach", "run"} & set(call.words):
        yield RiskReason("high", f"lets Git run other programs ({cut(steering[0], 40)})")


def _words(call: Call) -> str:
    return cut(" ".join(call.words[:4]), 60)


def _fetched_code(call: Call, name: str) -> Iterator[RiskReason]:
    """Code that is fetched and run. A tool that the project may have installed is its own code."""
    words = call.words[1:]
    plain = [word for word in words if word[:1] != "-"]
    if name in _PACKAGE_RUNNERS:
        verbs = _PACKAGE_RUNNERS[name]
        if not verbs or (plain and plain[0] in verbs):
            package = plain[1 if verbs else 0 :][:1]
            if package and not _is_tool(package[0]):
                yield RiskReason("high", f"fetches a package and runs it ({cut(package[0], 40)})")
            return
    if name not in _FETCHES_CODE or not plain or plain[0] not in _FETCHES_CODE[name]:
        return
    far = [word for word in plain[1:] if word.startswith(_ADDRESS) or "://" in word or (name == "go" and "@" in word)]
    if far or name in ("cargo", "gem"):
        fetched = far[0] if far else " ".join(plain[:2])
        yield RiskReason("high", f"fetches code of others, and installs or runs it ({cut(fetched, 40)})")


def _is_tool(package: str) -> bool:
    base = package.rpartition("/")[2] if package[:1] == "@" else package
    return base.partition("@")[0] in PROJECT_TOOLS or base in known_programs()
