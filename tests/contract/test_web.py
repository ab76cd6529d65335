"""The page's files: what they share with Python, and the libraries they ship."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from quarterdeck.api.pages import static_files
from quarterdeck.core.text import sanitize
from tools.web.labels import FILE, labels_text
from tools.web.vendor import VENDOR, rewritten

WEB = VENDOR.parent
OWN = sorted(path for path in WEB.rglob("*.js") if path.parent != VENDOR)


def test_the_labels_are_those_of_every_surface() -> None:
    assert FILE.read_text(encoding="utf-8") == labels_text(), "run: make docs"


def test_every_library_is_the_one_of_the_manifest() -> None:
    manifest = json.loads((VENDOR / "manifest.json").read_text(encoding="utf-8"))
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.glob("*.js")}
    assert {entry["file"]: entry["sha256"] for entry in manifest} == found
    assert all(entry["licence"] and entry["version"] for entry in manifest)


def test_imports_name_files() -> None:
    assert rewritten('import{h as x}from"preact";\n//# sourceMappingURL=a.map') == 'import{h as x}from"./preact.js";\n'
    for path in WEB.rglob("*.js"):
        for name in re.findall(r'(?:from|import)\s*"([^"]+)"', path.read_text(encoding="utf-8")):
            assert (path.parent / name).is_file(), f"{path.name} imports {name}"


def test_hidden_characters_are_the_same_as_in_the_terminal() -> None:
    text = (WEB / "lib" / "text.js").read_text(encoding="utf-8")
    pattern = re.search(r"/\[(.+)\]/gu", text)
    assert pattern is not None
    python = sanitize.UNSEEN.pattern
    same = re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), pattern[1])
    same = re.sub(r"\\u([0-9a-f]{4})|\\x([0-9a-f]{2})", lambda found: chr(int(found[1] or found[2], 16)), same)
    assert same.replace(r"\p{Surrogate}", "\ud800-\udfff") == python.strip("[]")


@pytest.mark.law("I7")
@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_no_script_makes_html_of_text(path: Path) -> None:
    unsafe = r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function"
    assert re.findall(unsafe, path.read_text(encoding="utf-8")) == []


@pytest.mark.law("A13")
def test_no_file_names_another_host() -> None:
    for path in [*OWN, *WEB.glob("*.html"), *WEB.glob("*.css")]:
        assert re.findall(r"(?:https?:)?//[a-z0-9-]+\.[a-z]{2,}", path.read_text(encoding="utf-8")) == [], path.name


def test_only_the_document_is_loaded_again() -> None:
    served = static_files()
    document = served["/"].content.decode()
    names = re.findall(r'(?:href|src)="(/static/[^"]+)"', document)
    assert len(names) == 2
    assert all(b"immutable" in served[name].cache[1] for name in names)
    assert served["/"].cache[1] == b"no-store"


def test_the_first_load_is_small() -> None:
    assert sum(len(file.compressed) for path, file in static_files().items() if path != "/style.css") < 120_000
