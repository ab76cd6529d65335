#!/bin/sh
# Install the programs that end-to-end tests drive. Under CI a program that cannot be installed is a failure.
set -u
missing() {
    echo "$1 is missing: $2" >&2
    [ "${CI:-}" = true ] && exit 1
    return 0
}

# install PROGRAM PACKAGE: a program, and the Debian package that contains it
install() {
    command -v "$1" >/dev/null 2>&1 && return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "Installing $2 …"
        apt-get update -q >/dev/null 2>&1
        DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$2" >/dev/null 2>&1
    fi
    command -v "$1" >/dev/null 2>&1 || missing "$1" "install it with your package manager"
}

install tmux tmux
install curl curl
install nginx nginx-light
install certutil libnss3-tools
install zsh zsh
install fish fish
[ "$(uname)" = Linux ] && install systemd-analyze systemd
command -v google-chrome >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || install chromium chromium

if [ ! -e .cache/web/node_modules/.bin/tsc ] || [ ! -e .cache/web/node_modules/axe-core/axe.min.js ]; then
    echo "Installing the TypeScript compiler and axe-core into .cache …"
    .venv/bin/python -m tools.web.typecheck --install >/dev/null 2>&1 ||
        missing "the TypeScript compiler or axe-core" "install them from npm"
fi

if [ ! -f .cache/claude-2.1.197/node_modules/@anthropic-ai/claude-code/bin/claude.exe ]; then
    echo "Installing Claude Code 2.1.197 into .cache …"
    for _ in 1 2 3; do
        .venv/bin/python -c 'from tests.support.claude import install_197; raise SystemExit(install_197() is None)' && exit 0
    done
    echo "Claude Code 2.1.197 could not be installed from npm: its tests are skipped" >&2
fi
exit 0
