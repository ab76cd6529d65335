"""Vendor the page's libraries from npm into surfaces/web/vendor, with a manifest. Run: python -m tools.web.vendor

A browser resolves no bare module names, and the page's Content-Security-Policy allows no inline import map, so imports
between the libraries are rewritten to their files."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tempfile
from pathlib import Path

VENDOR = Path(__file__).parents[2] / "src" / "quarterdeck" / "surfaces" / "web" / "vendor"
FILES = {
    "preact.js": ("preact", "dist/preact.mjs"),
    "hooks.js": ("preact", "hooks/dist/hooks.mjs"),
    "signals-core.js": ("@preact/signals-core", "dist/signals-core.mjs"),
    "signals.js": ("@preact/signals", "dist/signals.mjs"),
    "htm.js": ("htm", "dist/htm.mjs"),
}
IMPORTS = {"preact": "preact.js", "preact/hooks": "hooks.js", "@preact/signals-core": "signals-core.js"}
PINNED = ("preact@11.2.0", "@preact/signals@2.11.4", "htm@3.1.1")


def rewritten(text: str) -> str:
    """A library whose imports name the files beside it."""
    named = re.sub(r'(from|import)\s*"([^"./][^"]*)"', lambda found: f'{found[1]}"./{IMPORTS[found[2]]}"', text)
    return re.sub(r"\n?//# sourceMappingURL=.*", "", named).rstrip() + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder]
        subprocess.run([*command, *PINNED], check=True, stdout=subprocess.DEVNULL)
        VENDOR.mkdir(exist_ok=True)
        manifest, licences = [], {}
        for name, (package, path) in FILES.items():
            source = Path(folder) / "node_modules" / package
            about = json.loads((source / "package.json").read_text(encoding="utf-8"))
            text = rewritten((source / path).read_text(encoding="utf-8"))
            (VENDOR / name).write_text(text, encoding="utf-8")
            licences[about["name"]] = (source / "LICENSE").read_text(encoding="utf-8").strip()
            entry = {"file": name, "name": about["name"], "version": about["version"], "from": path}
            entry |= {"licence": about["license"], "sha256": hashlib.sha256(text.encode()).hexdigest()}
            manifest.append(entry)
    texts = [f"{name}\n\n{text}\n" for name, text in licences.items()]
    (VENDOR / "LICENSES.txt").write_text(f"\n{'-' * 72}\n\n".join(texts), encoding="utf-8")
    (VENDOR / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
