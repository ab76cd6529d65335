"""JavaScript's tools by their grammar."""

from __future__ import annotations

from tests.support.programs import covers_all, covers_none


def test_npm_covers_what_it_is_for() -> None:
    assert covers_all("npm:*", "npm test", "npm run build -- --watch", "npm ls")
    assert covers_none("npm:*", "npm install x", "npm publish", "npm exec x", "npm test --script-shell=./x")


def test_npm_install_covers_what_it_is_for() -> None:
    assert covers_all("npm install:*", "npm install", "npm install --save-dev x")
    assert covers_none("npm install:*", "npm install --registry=http://x x", "npm install -g x")


def test_npx_eslint_covers_what_it_is_for() -> None:
    assert covers_all("npx eslint:*", "npx eslint .")
    assert covers_none("npx eslint:*", "npx eslint --rulesdir x", "npx x", "npx -p x eslint")


def test_tsc_covers_what_it_is_for() -> None:
    assert covers_all("tsc:*", "tsc --noEmit")
    assert covers_none("tsc:*", "tsc --outDir /x")
