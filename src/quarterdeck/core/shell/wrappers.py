"""Programs that run another program, and the command they run as far as their words show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from quarterdeck.core.programs.grammar import word_set
from quarterdeck.core.programs.operands.checks import HARMLESS_ASSIGNMENT
from quarterdeck.core.shell.vocabulary import CHANGES_SHELL


class Wrapper(Struct, frozen=True):
    """The options of a wrapper, which tell where its command begins."""

    takes: str = ""  # letters of short options whose value is the next word
    longs: str = ""  # long options whose value is the next word
    skip: int = 0  # operands before the program
    sets: bool = False  # NAME=value words in front of the program set the environment
    script: bool = False  # the words are joined and read by a shell
    command: str = ""  # options whose value is a text that a shell reads
    after: str = ""  # subcommands after which the rest applies
    unseen: bool = False  # adds arguments that are not visible here
    quiet: str = ""  # options with which it runs nothing


class WrappedCommand(Struct, frozen=True):
    """The command a wrapper runs: some of its own words, or a text for a shell."""

    via: str
    words: tuple[str, ...] = ()
    text: str = ""
    outer: tuple[str, ...] = ()
    unseen: bool = False
    doubt: str = ""


_SHELL = Wrapper(command="-c --command", takes="oO", longs="rcfile init-file")
_CONTAINER = Wrapper(
    takes="uewvpnl",
    longs="user env workdir volume name network entrypoint env-file publish mount platform hostname label memory cpus "
    "pull device add-host tmpfs restart gpus cap-add cap-drop security-opt shm-size ulimit log-driver",
    skip=1,
    after="exec run",
)
_PACKAGES = Wrapper(takes="pc", longs="package", command="-c --call --shell-mode")
_PLAIN = (
    "fakeroot dumb-init eatmydata torsocks torify wsl nohup setsid unbuffer valgrind catchsegv firejail bwrap "
    "dbus-run-session systemd-inhibit arch linux64 rlwrap builtin coproc ! noglob nocorrect - busybox toybox alias"
)
"""Wrappers none of whose own options has a value."""
WRAPPERS: Mapping[str, Wrapper] = {
    **dict.fromkeys(["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh"], _SHELL),
    **dict.fromkeys(["bash-static", "ksh93", "oksh", "posh", "yash", "nu", "xonsh", "elvish", "pwsh"], _SHELL),
    "sudo": Wrapper(
        takes="ugCDhpRrTtU", longs="user group chdir host prompt chroot role type other-user close-from", sets=True
    ),
    "doas": Wrapper(takes="uC"),
    "su": Wrapper(takes="sgGw", longs="shell group", command="-c --command", skip=9),
    "runuser": Wrapper(takes="gGsw", longs="group shell", command="-c --command", skip=1),
    "sg": Wrapper(command="-c", skip=1, script=True),
    "pkexec": Wrapper(longs="user"),
    "env": Wrapper(takes="uC", longs="unset chdir", sets=True, command="-S --split-string"),
    **dict.fromkeys(_PLAIN.split(), Wrapper()),
    **dict.fromkeys(
        ["gosu", "su-exec", "faketime", "catatonit", "taskset", "chroot", "setarch", "repeat", "mosh"], Wrapper(skip=1)
    ),
    **dict.fromkeys(["proxychains", "proxychains4"], Wrapper(takes="f")),
    **dict.fromkeys(["aws-vault", "chamber", "doppler", "dotenv", "infisical", "op", "guix"], Wrapper(after="--")),
    **dict.fromkeys(["zellij", "reflex"], Wrapper(after="--")),
    "nix": Wrapper(after="-c --command"),
    **dict.fromkeys(["poetry", "pdm", "hatch", "pipenv"], Wrapper(after="run")),
    "tox": Wrapper(after="exec"),
    **dict.fromkeys(["asdf", "rbenv", "pyenv", "nodenv", "lerna", "rye", "pixi", "volta"], Wrapper(after="exec run")),
    **dict.fromkeys(["fnm", "nvm", "heroku"], Wrapper(after="exec run")),
    "tini": Wrapper(takes="pe"),
    "prlimit": Wrapper(takes="op", longs="output pid"),
    "cpulimit": Wrapper(takes="lpe", longs="limit pid exe"),
    "cgexec": Wrapper(takes="g"),
    "chpst": Wrapper(takes="uUbemdoplfnc"),
    "sshpass": Wrapper(takes="pfdP"),
    "ssh-agent": Wrapper(takes="aEtP"),
    "start-stop-daemon": Wrapper(command="-x --exec --startas"),
    "cross-env": Wrapper(sets=True),
    "nodemon": Wrapper(command="-x --exec", skip=99),
    "vagrant": Wrapper(command="-c --command", skip=99),
    "gcloud": Wrapper(command="--command", skip=99),
    "ansible": Wrapper(command="-a --args", skip=99),
    "hyperfine": Wrapper(takes="wrmMpcsnSLPDu", longs="warmup runs shell export-json export-markdown", script=True),
    "concurrently": Wrapper(takes="nc", longs="names", script=True),
    **dict.fromkeys(["pssh", "parallel-ssh"], Wrapper(takes="hHlptoex", script=True)),
    "time": Wrapper(takes="fo", longs="format output"),
    "timeout": Wrapper(takes="ks", longs="kill-after signal", skip=1),
    "gtimeout": Wrapper(takes="ks", longs="kill-after signal", skip=1),
    "nice": Wrapper(takes="n", longs="adjustment"),
    "ionice": Wrapper(takes="cnpPu", longs="class classdata"),
    "chrt": Wrapper(takes="TPD", skip=1),
    "numactl": Wrapper(takes="imNCp"),
    "stdbuf": Wrapper(takes="ioe", longs="input output error"),
    "strace": Wrapper(takes="eoOpsSuEaPIbUX", longs="output env trace"),
    "ltrace": Wrapper(takes="eopsulnaAD"),
    "perf": Wrapper(takes="eo", after="stat record trace"),
    "flock": Wrapper(takes="wE", longs="timeout wait conflict-exit-code", skip=1, command="-c --command"),
    "unshare": Wrapper(takes="SGRw", longs="setuid setgid root wd map-user map-group propagation setgroups"),
    "nsenter": Wrapper(takes="tSGw", longs="target"),
    "setpriv": Wrapper(longs="reuid regid groups"),
    "capsh": Wrapper(command="-c"),
    "systemd-run": Wrapper(
        takes="puMEH", longs="unit property uid gid machine setenv host slice description working-directory nice"
    ),
    "caffeinate": Wrapper(takes="tw"),
    "xvfb-run": Wrapper(takes="nsfpwe"),
    "script": Wrapper(command="-c --command", takes="EOTBILmo", skip=9),
    "exec": Wrapper(takes="a"),
    "command": Wrapper(quiet="-v -V"),
    "jobs": Wrapper(after="-x"),
    "eval": Wrapper(script=True),
    "trap": Wrapper(command="--", skip=9),
    "xargs": Wrapper(
        takes="aEIdLnPs",
        longs="arg-file delimiter max-args max-chars max-procs process-slot-var",
        unseen=True,
    ),
    "parallel": Wrapper(takes="jIaSNL", longs="jobs arg-file sshlogin", script=True, unseen=True),
    "ssh": Wrapper(takes="BbcDEeFIiJkLlmOopQRSWw", skip=1, script=True),
    "watch": Wrapper(takes="nq", longs="interval equexit", script=True),
    "entr": Wrapper(script=True),
    "watchexec": Wrapper(takes="wefi", longs="watch exts filter ignore"),
    **dict.fromkeys(["docker", "podman", "nerdctl", "docker-compose", "podman-compose"], _CONTAINER),
    **dict.fromkeys(["lxc", "incus"], Wrapper(longs="cwd env user", skip=1, after="exec")),
    "kubectl": Wrapper(takes="nc", longs="namespace container context kubeconfig image", skip=1, after="exec run"),
    "oc": Wrapper(takes="nc", longs="namespace container context image", skip=1, after="exec run rsh"),
    "npx": _PACKAGES,
    "bunx": _PACKAGES,
    "pnpx": _PACKAGES,
    "uvx": Wrapper(longs="from with python", takes="p"),
    "pipx": Wrapper(longs="spec", after="run"),
    "npm": Wrapper(longs="package", takes="pc", after="exec x", command="-c --call"),
    "pnpm": Wrapper(after="exec dlx"),
    "yarn": Wrapper(after="exec dlx"),
    "uv": Wrapper(longs="with python extra group package directory project env-file", takes="p", after="run"),
    "conda": Wrapper(takes="np", longs="name prefix", after="run"),
    "bundle": Wrapper(after="exec"),
    "direnv": Wrapper(after="exec", skip=1),
    "mise": Wrapper(after="exec x"),
    "rustup": Wrapper(after="run", skip=1),
    "nix-shell": Wrapper(command="--run --command", takes="pAI", skip=99),
    "tmux": Wrapper(
        takes="scnteFxy",
        after="new-session new new-window neww split-window splitw run-shell run send-keys send",
        script=True,
    ),
    "screen": Wrapper(takes="STpchset"),
    "git": Wrapper(after="bisect submodule"),
    **dict.fromkeys(["find", "gfind", "fd", "fdfind"], Wrapper()),
}
_FIND_RUNS = word_set("-exec -execdir -ok -okdir")
_FD_RUNS = re.compile(r"-[A-Za-z]*[xX]|--exec(?:-batch)?")


WRAPS_ONLY_WITH = {name: word_set(wrapper.after) for name, wrapper in WRAPPERS.items() if wrapper.after} | {
    "find": _FIND_RUNS,
    "git": word_set("bisect submodule rebase -c"),
}
"""Programs that run another only if one of these words is among theirs."""

HIDING_WRAPPERS = frozenset(name for name, wrapper in WRAPPERS.items() if wrapper.unseen) | {"fd", "fdfind"}
"""Programs that give a command arguments which the line does not show."""

SHELLS = word_set("bash sh dash zsh ksh mksh ash fish at batch ssh su sudo doas")
CHANGING_BUILTINS = CHANGES_SHELL | {"set"}
SPECIAL_NAMES = CHANGING_BUILTINS | WRAPPERS.keys() | SHELLS
"""Names that do more than start a program: they change the shell, or run another command."""


def unwrap(words: Sequence[str]) -> Iterable[WrappedCommand]:
    """The commands that a call runs; none if it is not a wrapper."""
    name = words[0].rpartition("/")[2]
    wrapper = WRAPPERS.get(name)
    if wrapper is None or len(words) < 2:
        return ()
    if name in WRAPS_ONLY_WITH and WRAPS_ONLY_WITH[name].isdisjoint(words):
        return ()
    if name in ("find", "gfind", "fd", "fdfind"):
        return _find_commands(name, words)
    if name == "alias":
        return (WrappedCommand(via="alias", text="\n".join(word.partition("=")[2] for word in words[1:])),)
    if name == "git":
        return _git_commands(words)
    if name == "trap":
        return (WrappedCommand(via="trap", text=words[2] if words[1] == "--" and len(words) > 2 else words[1]),)
    return _wrapped(name, wrapper, words)


def _wrapped(name: str, wrapper: Wrapper, words: Sequence[str]) -> Iterator[WrappedCommand]:
    at = 1
    if wrapper.after:
        positions = [place for place, word in enumerate(words) if place and word in wrapper.after.split()]
        if not positions:
            return
        at = positions[0] + 1
        name = f"{name} {words[positions[0]]}"
    skip = wrapper.skip
    commands = wrapper.command.split()
    longs = wrapper.longs.split()
    while at < len(words):
        word = words[at]
        if word in wrapper.quiet.split():
            return
        if text := _option_text(word, words, at, commands):
            yield WrappedCommand(via=f"{name} {commands[0]}", text=text[0], doubt=text[1])
            return
        if wrapper.sets and "=" in word and word[:1] != "-" and HARMLESS_ASSIGNMENT.fullmatch(word):
            pass
        elif wrapper.sets and "=" in word and word[:1] != "-":
            yield WrappedCommand(via=name, doubt=f"sets the environment variable {word.partition('=')[0]}")
        elif word == "--" or (word == "-" and name in ("su", "runuser")):
            pass
        elif len(word) > 1 and (word[:1] == "-" or (word[:1] == "+" and name in _SCRIPT_FILE)):
            if _takes_next(word, wrapper.takes, longs):
                at += 1
        elif skip:
            skip -= 1
        else:
            break
        at += 1
    rest = tuple(words[at:])
    if not rest:
        return
    if name in _SCRIPT_FILE:
        return
    if wrapper.script:
        yield WrappedCommand(via=name, text=" ".join(rest), unseen=wrapper.unseen)
    else:
        yield WrappedCommand(via=name, words=rest, outer=tuple(words[:at]), unseen=wrapper.unseen)


_SCRIPT_FILE = word_set("bash sh dash zsh ksh mksh ash fish rbash csh tcsh")


def _option_text(word: str, words: Sequence[str], at: int, commands: Sequence[str]) -> tuple[str, str] | None:
    """The text that this option passes to a shell, and the doubt about it."""
    for option in commands:
        if option[:2] == "--":
            name, equals, value = word.partition("=")
            if len(name) > 2 and option.startswith(name):
                return (value, "") if equals else (" ".join(words[at + 1 : at + 2]), "")
        elif word[:1] == "-" and word[:2] != "--" and option[1] in word[1:]:
            # After a cluster (`bash -lc`), the text is the next word that is not an option.
            following = [later for later in words[at + 1 :] if later[:1] not in ("-", "+")]
            attached = word.partition(option[1])[2]
            text = attached if attached and option == "-S" else (following[0] if following else "")
            return (text, "") if text else None
    return None


def _takes_next(word: str, takes: str, longs: Sequence[str]) -> bool:
    if word[:2] == "--":
        return "=" not in word and any(long.startswith(word[2:]) for long in longs)
    for position, letter in enumerate(word[1:], 2):
        if letter in takes:
            return position == len(word)
    return False


def _find_commands(name: str, words: Sequence[str]) -> Iterator[WrappedCommand]:
    """Yield the commands of `find -exec` and similar options, up to `;` or `+`."""
    is_fd = name.startswith("fd")
    words = [part for word in words for part in (word.split("=", 1) if is_fd and word[:6] == "--exec" else (word,))]
    at = 1
    while at < len(words):
        if not (_FD_RUNS.fullmatch(words[at]) if is_fd else words[at] in _FIND_RUNS):
            at += 1
            continue
        end = at + 1
        while end < len(words) and words[end] not in (";", "+"):
            end += 1
        if words[at + 1 : end]:
            inner, outer = tuple(words[at + 1 : end]), tuple(words[: at + 1])
            yield WrappedCommand(via=f"{name} {words[at]}", words=inner, outer=outer, unseen=is_fd)
        at = end + 1


def _git_commands(words: Sequence[str]) -> Iterator[WrappedCommand]:
    """Yield the commands of `git bisect run …`, `git submodule foreach …`, `git rebase --exec …`, and of aliases
    defined in the line."""
    aliases = [word.partition("=")[2] for word in words if word.startswith("alias.")]
    if aliases:
        text = "\n".join(value[1:] if value[:1] == "!" else f"git {value}" for value in aliases)
        yield WrappedCommand(via="git alias", text=text)
    for place, word in enumerate(words):
        following = words[place + 1 :]
        if word in ("run", "foreach") and words[place - 1] in ("bisect", "submodule") and following:
            yield WrappedCommand(
                via=f"git {words[place - 1]} {word}", text=" ".join(w for w in following if w != "--recursive")
            )
        elif word in ("-x", "--exec") and "rebase" in words[:place] and following:
            yield WrappedCommand(via="git rebase --exec", text=following[0])
        elif word.startswith("--exec=") and "rebase" in words[:place]:
            yield WrappedCommand(via="git rebase --exec", text=word[7:])
