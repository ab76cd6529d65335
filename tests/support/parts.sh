#!/bin/sh
# Install the real parts that end-to-end tests drive. Under CI a part that cannot be had is a failure.
set -u
missing() {
    echo "$1 is missing: $2" >&2
    [ "${CI:-}" = true ] && exit 1
    return 0
}

# a program, and the Debian package that has it
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
command -v google-chrome >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || install chromium chromium

if [ ! -f .cache/claude-2.1.197/node_modules/@anthropic-ai/claude-code/bin/claude.exe ]; then
    echo "Installing Claude Code 2.1.197 into .cache …"
    for _ in 1 2 3; do
        .venv/bin/python -c 'from tests.support.claude import install_197; raise SystemExit(install_197() is None)' && exit 0
    done
    echo "Claude Code 2.1.197 could not be had from npm: its tests are skipped" >&2
fi
exit 0
