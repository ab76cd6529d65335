"""What is known of programs: which options run or write something, which only filter, which run other programs.

An open rule (`Bash(sort:*)`) does not cover an option listed here unless the rule names it. Sources: the manual pages
of each program, and GTFOBins (gtfobins.github.io, marked G), which collects how ordinary programs run others.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


def named(words: str) -> frozenset[str]:
    """The set of the words of a text."""
    return frozenset(words.split())


RESERVED = named(
    "if then else elif fi for while until do done case esac select function time coproc in [[ ]] (( )) { } ! "
    "foreach end repeat nocorrect noglob always"  # zsh, which runs the text on some machines
)
# Variables that hold no secret, so that `echo $HOME` shows nothing that matters.
KNOWN_NAMES = named("HOME PWD OLDPWD USER LOGNAME SHELL PATH LANG HOSTNAME UID EUID SECONDS RANDOM")
# The shell's own commands that change how it reads or runs what follows, or that evaluate text.
CHANGES_SHELL = named(
    "alias unalias hash enable trap read mapfile readarray getopts shopt bind complete compgen compopt "
    "let fc history declare typeset local export readonly unset setopt unsetopt zmodload autoload zle "
    "functions emulate"
)
# Without an option that runs or writes, whatever a file name pattern turns into: only these may be given a bare `*`.
ONLY_LOOK = named(
    "ls cat wc head tail grep egrep fgrep echo stat du df md5sum sha1sum sha256sum sha512sum cksum nl tac "
    "rev cut cmp basename dirname realpath readlink"
)


class Tool(Struct, frozen=True):
    """What speaks against an open rule for one program, or for one of its subcommands."""

    shorts: str = ""  # letters, also in clusters and with a value attached
    takes: str = ""  # letters whose value follows: it ends a cluster
    longs: str = ""  # long options without their dashes; any beginning of one counts
    harmless: str = ""  # long options that only look like the beginning of one
    words: str = ""  # words as they are, or up to their "="
    always: bool = False  # running another program or writing is all it does


_GIT_LONGS = (
    "output output-directory exec exec-path ext-diff textconv upload-pack receive-pack config config-env "
    "open-files-in-pager extcmd template separate-git-dir strategy edit-description"
)
TOOLS: Mapping[str, Tool] = {
    # git(1), git-<command>(1), G; what stands before the subcommand (-c, -C, --git-dir…) is read in shell_options
    "git": Tool(longs=_GIT_LONGS, harmless="text"),
    "git archive": Tool(shorts="o"),
    "git bisect": Tool(words="run"),
    "git bugreport": Tool(shorts="o"),
    "git bundle": Tool(always=True),
    "git clone": Tool(shorts="cu", takes="bjo"),
    "git commit": Tool(shorts="t", takes="mFCcu"),
    "git config": Tool(always=True),
    "git daemon": Tool(always=True),
    "git diagnose": Tool(shorts="o"),
    "git difftool": Tool(shorts="xt", always=True),
    "git fast-export": Tool(longs="export-marks"),
    "git fast-import": Tool(longs="export-marks export-pack-edges"),
    "git filter-branch": Tool(always=True),
    "git format-patch": Tool(shorts="o"),
    "git grep": Tool(shorts="O", takes="efmABC"),
    "git help": Tool(shorts="wi"),
    "git instaweb": Tool(always=True),
    "git interpret-trailers": Tool(longs="in-place trailer"),
    "git merge": Tool(shorts="s", takes="mFX"),
    "git mergetool": Tool(always=True),
    "git pull": Tool(shorts="s", takes="jX"),
    "git rebase": Tool(shorts="x", takes="sX"),
    "git send-email": Tool(always=True),
    "git submodule": Tool(words="foreach"),
    "git svn": Tool(longs="authors-prog"),
    "git web--browse": Tool(shorts="bt", longs="browser tool"),
    # find(1), fd(1), G
    "find": Tool(words="-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from"),
    "fd": Tool(shorts="xX", takes="etEdSc", longs="exec exec-batch"),
    "fdfind": Tool(shorts="xX", takes="etEdSc", longs="exec exec-batch"),
    "locate": Tool(longs="database", shorts="d"),
    "tree": Tool(shorts="oR", takes="LPIH", longs="output"),
    # coreutils manuals, G
    "sort": Tool(shorts="oT", takes="ktS", longs="output compress-program temporary-directory files0-from"),
    "split": Tool(longs="filter", always=True),
    "csplit": Tool(always=True),
    "tee": Tool(always=True),
    "shuf": Tool(shorts="o", takes="in", longs="output"),
    "date": Tool(shorts="s", takes="dfrI", longs="set file"),
    "install": Tool(longs="strip-program"),
    "env": Tool(shorts="SC", takes="u", longs="split-string chdir"),
    "printf": Tool(shorts="v"),
    "test": Tool(words="-v -R"),
    "wait": Tool(shorts="p"),
    "base64": Tool(shorts="o", takes="wbi", longs="output"),
    "xxd": Tool(shorts="r"),
    # grep runs nothing; rg(1), ag(1), ack(1)
    "rg": Tool(takes="eAfBCgjmrtTE", longs="pre pre-glob hostname-bin search-zip", shorts="z"),
    "ag": Tool(longs="pager"),
    "ack": Tool(longs="pager output ackrc"),
    # diff(1), sdiff(1)
    "diff": Tool(shorts="l", takes="CUxXIFWDS", longs="paginate"),
    "sdiff": Tool(shorts="o", longs="output diff-program"),
    # file(1), man(1), less(1), more(1), pagers run editors and shells: G
    "file": Tool(shorts="CSmzZ", takes="efFP", longs="compile no-sandbox magic-file uncompress uncompress-noreport"),
    "man": Tool(
        shorts="PHTtCBXl",
        takes="LRmMSeEpr",
        longs="pager html troff groff-html browser preprocessor config-file local-file gxditview",
    ),
    "less": Tool(
        shorts="oOkT",
        takes="bhjpPtxyz",
        longs="log-file LOG-FILE lesskey-file lesskey-src lesskey-content tag-file",
        words="+",
    ),
    "bat": Tool(longs="pager config-file", words="cache"),
    "delta": Tool(longs="pager config"),
    "vim": Tool(always=True, shorts="cSsuUiVwWqtl", longs="cmd startuptime remote server listen luamod-dev"),
    "ed": Tool(always=True),
    "emacs": Tool(always=True, shorts="flx", longs="eval execute funcall load script batch init-directory"),
    "nano": Tool(always=True, shorts="fsC", longs="rcfile speller backupdir"),
    # tar(1), zip(1), G
    "tar": Tool(
        shorts="IFPxc",
        takes="fCbTXgHKLNV",
        longs="to-command checkpoint-action use-compress-program rsh-command rmt-command info-script new-volume-script "
        "extract create get append update delete absolute-names overwrite remove-files index-file",
    ),
    "bsdtar": Tool(shorts="Pxcs", takes="fCbTX", longs="use-compress-program extract create"),
    "zip": Tool(shorts="TO", takes="bntx", longs="unzip-command test output-file"),
    "unzip": Tool(shorts="do", takes="xP"),
    "cpio": Tool(shorts="FIEioHp", longs="rsh-command to-stdout file", always=True),
    "7z": Tool(words="-o -si -w"),
    # rsync(1), scp(1), ssh(1), sftp(1), G
    "rsync": Tool(
        shorts="eMT",
        takes="fB",
        longs="rsh rsync-path remote-option daemon config log-file write-batch files-from temp-dir",
    ),
    "scp": Tool(shorts="SoFDi", takes="cJlPX"),
    "sftp": Tool(shorts="SoFDbi", takes="BcJlPRsX"),
    "ssh": Tool(shorts="oFEIiDLRwWJ", takes="BbceklmOpQS", words="-S"),
    "ssh-keygen": Tool(always=True, shorts="Dw"),
    "ssh-add": Tool(shorts="sSe"),
    # curl(1), wget(1), G
    "curl": Tool(
        shorts="oOKTDcFdXxEJwQnk",
        takes="AbeHmrPuUyYzCt",
        longs="output output-dir remote-name remote-name-all remote-header-name config upload-file dump-header "
        "cookie-jar "
        "trace trace-ascii stderr libcurl hsts alt-svc etag-save data data-ascii data-binary data-raw "
        "data-urlencode form ssl-sessions "
        "form-string json request post301 proxy proxy1.0 preproxy unix-socket abstract-unix-socket engine "
        "cert key netrc "
        "netrc-file netrc-optional mail-from url-query variable quote interface dns-servers doh-url resolve connect-to "
        "socks4 socks4a socks5 socks5-hostname write-out insecure create-dirs proto-default ech krb delegation next",
        harmless="compressed head",
    ),
    "wget": Tool(
        shorts="OPoaeirmkNxcb",
        takes="tTwQUDIXAlRB",
        longs="output-document directory-prefix output-file append-output execute input-file config use-askpass "
        "post-data "
        "post-file body-data body-file method save-cookies save-headers warc-file hsts-file recursive mirror backups "
        "background rejected-log load-cookies private-key certificate delete-after continue pref-mime convert-links",
        always=True,
    ),
    "http": Tool(shorts="od", longs="output download session session-read-only"),
    "nc": Tool(always=True),
    "ncat": Tool(always=True),
    "socat": Tool(always=True),
    "openssl": Tool(words="-out -engine -writerand -keyout -provider -provider-path -config"),
    "dig": Tool(shorts="f"),
    "tcpdump": Tool(shorts="zwW", takes="icrsGCE"),
    "nmap": Tool(shorts="i", longs="script interactive datadir servicedb", words="-oN -oX -oG -oA -oS"),
    # awk and sed are read by what their programs say (shell_match); these are their options
    "make": Tool(
        shorts="fCIE",
        takes="jloW",
        longs="file makefile directory include-dir eval",
        harmless="environment-overrides",
    ),
    "cmake": Tool(shorts="PEDCG", words="--build --install -P -E --open --trace-redirect"),
    "ninja": Tool(shorts="fCt", takes="jkld"),
    "just": Tool(shorts="fcd", takes="j", longs="justfile command shell shell-arg working-directory chooser"),
    # pytest's reference of command line flags; a plugin, an ini file or a folder to delete
    "pytest": Tool(
        shorts="pco",
        takes="kmnrW",
        longs="config-file override-ini rootdir confcutdir basetemp junitxml junit-xml debug log-file pastebin pdb "
        "pdbcls "
        "trace ignore-glob result-log report-log cov-config cov-report html csv json-report-file import-mode pyargs",
        harmless="trace-config debug-config html-report",
    ),
    "tox": Tool(shorts="cx", longs="conf override workdir root result-json"),
    "nox": Tool(shorts="f", longs="noxfile"),
    "mypy": Tool(
        longs="config-file python-executable install-types junit-xml cache-dir html-report txt-report xml-report "
        "any-exprs-report "
        "linecount-report lineprecision-report linecoverage-report cobertura-xml-report custom-typeshed-dir "
        "shadow-file "
        "pdb dump-build-stats"
    ),
    "ruff": Tool(shorts="o", longs="fix fix-only unsafe-fixes output-file config add-noqa", words="--fix clean"),
    "pylint": Tool(longs="init-hook load-plugins rcfile output"),
    "flake8": Tool(longs="config output-file tee append-config"),
    "black": Tool(longs="config"),
    "eslint": Tool(
        shorts="cof",
        longs="config fix output-file rulesdir plugin parser resolve-plugins-relative-to format cache-location init",
        harmless="fix-dry-run",
    ),
    "prettier": Tool(shorts="w", longs="write config plugin plugin-search-dir cache-location", words="-w"),
    "tsc": Tool(
        words="--outDir --outFile --project -p --build -b --init --generateTrace --declarationDir --tsBuildInfoFile"
    ),
    "jest": Tool(
        shorts="cu",
        takes="tw",
        longs="config globalSetup globalTeardown setupFiles setupFilesAfterEnv reporters transform testEnvironment "
        "runner "
        "testRunner resolver outputFile rootDir roots preset testResultsProcessor updateSnapshot coverageDirectory "
        "watchPlugins snapshotSerializers filter modulePaths cacheDirectory dependencyExtractor haste",
    ),
    # npm(1) config, pnpm, yarn, bun: another shell, another folder, another configuration
    "npm": Tool(
        shorts="Cg",
        longs="script-shell node-options prefix userconfig globalconfig shell editor viewer browser git init-module "
        "cache registry onload-script global location node-gyp python before-script",
        words="exec x explore edit config set init create publish",
    ),
    "pnpm": Tool(
        shorts="Cgc",
        longs="dir script-shell node-options shell-mode config registry prefix userconfig modules-dir store-dir global",
        words="exec dlx create config publish",
    ),
    "yarn": Tool(
        longs="cwd script-shell use-yarnrc modules-folder cache-folder registry rc-filename",
        words="exec dlx create config node publish global",
    ),
    "bun": Tool(shorts="erc", longs="eval preload config cwd require print shell", words="x create exec"),
    "deno": Tool(shorts="Ac", longs="allow config import-map", words="eval install"),
    "cargo": Tool(
        shorts="ZC",
        longs="config manifest-path target-dir out-dir artifact-dir fix",
        words="install publish",
    ),
    # rustc(1), the linkers and archivers of binutils: plugins, another linker, output; gcc is read in shell_options
    "rustc": Tool(shorts="CZ", takes="LlOWADFo", longs="codegen sysroot"),
    "nm": Tool(longs="plugin"),
    "ar": Tool(longs="plugin"),
    "ranlib": Tool(longs="plugin"),
    "ld": Tool(words="-plugin -plugin-opt -dynamic-linker", longs="plugin plugin-opt dynamic-linker"),
    "gofmt": Tool(words="-cpuprofile"),
    "clang-tidy": Tool(longs="load fix fix-errors export-fixes config config-file", words="-load -fix -fix-errors"),
    "clang-format": Tool(shorts="i"),
    "shfmt": Tool(shorts="w", longs="write"),
    "cppcheck": Tool(longs="addon output-file plist-output cppcheck-build-dir clang"),
    "rubocop": Tool(shorts="raAxo", longs="require autocorrect auto-correct fix-layout out plugin"),
    "stylelint": Tool(longs="fix custom-syntax custom-formatter config output-file"),
    "mocha": Tool(shorts="rR", longs="require config opts package reporter-option ui"),
    "javac": Tool(words="-processor -processorpath --processor-path --processor-module-path"),
    # apt(8): an option of the configuration can name a program
    "apt": Tool(shorts="oc", longs="option config-file"),
    "go": Tool(
        words="-exec -toolexec -c -o -overlay -modfile -C -vettool -ldflags -gcflags -gccgoflags -asmflags -cpuprofile "
        "-memprofile -blockprofile -mutexprofile -trace -testlogfile -outputdir -coverprofile -pkgdir -tags= -fuzz "
        "generate tool env "
        "install --exec --toolexec --o --overlay --modfile --C --vettool --ldflags -test.cpuprofile -test.outputdir"
    ),
    "pip": Tool(
        longs="target prefix root config-settings global-option install-option log report python proxy index-url "
        "extra-index-url find-links requirement editable build-option use-pep517 cache-dir trusted-host",
        shorts="tire",
        words="install download wheel config",
    ),
    "uv": Tool(longs="config-file directory project python index-url default-index", words="run tool pip publish"),
    "poetry": Tool(shorts="CP", longs="directory project", words="run config publish"),
    "mvn": Tool(shorts="fDsP", longs="file define settings global-settings toolchains", words="exec:exec exec:java"),
    "gradle": Tool(
        shorts="bcIpPDg", longs="init-script build-file settings-file project-dir include-build gradle-user-home"
    ),
    "bundle": Tool(words="exec config"),
    "composer": Tool(shorts="d", longs="working-dir", words="exec config global run-script"),
    "gem": Tool(words="install push exec", longs="config-file"),
    # docker(1), kubectl(1), gh(1), G
    "docker": Tool(
        words="exec run cp build buildx compose start create commit save export load import push plugin -H -c --host "
        "--context --config"
    ),
    "kubectl": Tool(
        words="exec cp run apply create delete edit debug attach port-forward proxy plugin patch replace "
        "--kubeconfig -f",
        longs="kubeconfig context server as as-group token",
    ),
    "gh": Tool(words="api alias extension ssh -X --method browse secret auth config codespace"),
    "helm": Tool(longs="post-renderer kubeconfig", words="plugin"),
    "terraform": Tool(words="-chdir -out apply destroy console"),
    "systemctl": Tool(shorts="HM", longs="host machine root", words="edit"),
    "journalctl": Tool(longs="vacuum-size vacuum-time vacuum-files rotate flush cursor-file root directory file image"),
    "crontab": Tool(always=True),
    "at": Tool(always=True),
    # databases that run shells: G
    "sqlite3": Tool(words="-init -cmd", longs="init cmd"),
    "psql": Tool(shorts="cfoLvd", longs="command file output log-file set dbname"),
    "mysql": Tool(shorts="e", longs="execute init-command pager tee defaults-file defaults-extra-file plugin-dir"),
    # jq(1), yq: what reads other files, or writes in place
    "jq": Tool(shorts="fL", longs="from-file rawfile slurpfile library-path argfile"),
    "yq": Tool(shorts="ifs", longs="inplace in-place from-file split-exp"),
    "xmllint": Tool(longs="output shell", shorts="o"),
    "top": Tool(shorts="W"),
    "strace": Tool(shorts="oE", longs="output env"),
    "ltrace": Tool(shorts="o"),
    "gdb": Tool(always=True),
    "lldb": Tool(always=True),
    # modules that run a text: python -m timeit
    "timeit": Tool(always=True),
    "pdb": Tool(always=True),
    "tmux": Tool(always=True),
    "screen": Tool(always=True),
    "dmesg": Tool(shorts="cCnDE", longs="clear read-clear console-level console-off console-on"),
    "hostname": Tool(shorts="FbB", longs="file boot"),
    "ip": Tool(shorts="b", words="-batch -b -force exec netns", longs="batch"),
    "sysctl": Tool(shorts="wp", longs="write load system"),
    "mount": Tool(always=True),
    "dd": Tool(always=True),
    "dpkg": Tool(
        shorts="irPA", longs="install unpack configure remove purge record-avail pre-invoke post-invoke admindir root"
    ),
    "rake": Tool(shorts="feErIR", longs="rakefile execute execute-print execute-continue require libdir rakelibdir"),
    "rspec": Tool(shorts="rIO", takes="eft", longs="require options default-path"),
    "bazel": Tool(
        longs="run_under workspace_status_command override_repository override_module bazelrc output_base "
        "output_user_root action_env shell_executable"
    ),
    "patch": Tool(shorts="o", longs="output"),
    "pandoc": Tool(shorts="oFLf", longs="output filter lua-filter pdf-engine extract-media template"),
    "ffmpeg": Tool(always=True),
    "convert": Tool(always=True),
    "gpg": Tool(shorts="o", longs="output photo-viewer exec-path agent-program"),
    "script": Tool(always=True),
}
SAME_AS = {
    "gmake": "make",
    "gtar": "tar",
    "gsort": "sort",
    "gfind": "find",
    "py.test": "pytest",
    "pip3": "pip",
    "podman": "docker",
    "batcat": "bat",
    "[": "test",
    "pnpx": "pnpm",
    "vitest": "jest",
    "mariadb": "mysql",
    **dict.fromkeys(["vi", "nvim", "view", "ex", "vimdiff", "rvim", "gvim"], "vim"),
    **dict.fromkeys(["apt-get", "apt-cache", "aptitude"], "apt"),
    "emacsclient": "emacs",
    "gdate": "date",
    "netcat": "nc",
}

# Long options and the letters they stand for, so that a deny of `rm -rf` also meets `rm --recursive --force`.
TWINS: Mapping[str, Mapping[str, str]] = {
    "rm": {"--recursive": "r", "-R": "r", "--force": "f"},
    "cp": {"--recursive": "r", "-R": "r", "--force": "f"},
    "chmod": {"--recursive": "R"},
    "chown": {"--recursive": "R"},
    "git": {"--force": "f", "--all": "a", "--hard": "", "--message": "m", "--delete": "d"},
    "curl": {"--output": "o", "--remote-name": "O", "--data": "d", "--upload-file": "T", "--request": "X"},
    "sed": {"--in-place": "i"},
    "docker": {"--force": "f", "--all": "a"},
}
