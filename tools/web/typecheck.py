"""Check the types of the page's scripts with tsc. Run: python -m tools.web.typecheck

The scripts are plain JavaScript with types in comments. Their libraries are vendored without types, so the check reads
those of the npm packages in their place; `--install` only installs these into .cache, with axe-core for the tests of
accessibility."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.web.vendor import PINNED, VENDOR

CACHE = Path(__file__).parents[2] / ".cache" / "web"
COMPILER = CACHE / "node_modules" / ".bin" / "tsc"
AXE = CACHE / "node_modules" / "axe-core" / "axe.min.js"
TYPES = {
    "preact.js": 'export * from "preact";',
    "hooks.js": 'export * from "preact/hooks";',
    "signals.js": 'export * from "@preact/signals";',
    "signals-core.js": 'export * from "@preact/signals-core";',
    "htm.js": 'import htm from "htm"; export default htm;',
}
OPTIONS = {
    "allowJs": True,
    "checkJs": True,
    "noEmit": True,
    "strict": True,
    "target": "es2022",
    "module": "esnext",
    "moduleResolution": "bundler",
    "lib": ["dom", "dom.iterable", "es2023"],
    "skipLibCheck": True,
    "types": [],
}


def install() -> None:
    """Install the compiler, the libraries' types and axe-core, unless they are there."""
    if COMPILER.exists() and AXE.exists():
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(CACHE)]
    subprocess.run([*command, "typescript@7.0.2", "axe-core@4.14.1", *PINNED], check=True, stdout=subprocess.DEVNULL)


def problems() -> str:
    """What tsc says; empty when all is well."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        web = Path(folder) / "web"
        shutil.copytree(VENDOR.parent, web, ignore=lambda _, names: [name for name in names if name in TYPES])
        for name, types in TYPES.items():
            (web / "vendor" / name).with_suffix(".d.ts").write_text(types, encoding="utf-8")
        settings = {"compilerOptions": OPTIONS, "include": ["web/**/*.js"]}
        (Path(folder) / "tsconfig.json").write_text(json.dumps(settings), encoding="utf-8")
        done = subprocess.run([COMPILER, "-p", folder], capture_output=True, text=True, check=False)
        return (done.stdout + done.stderr).strip() or ("tsc failed" if done.returncode else "")


def main() -> int:
    install()
    if "--install" in sys.argv:
        return 0
    found = problems()
    print(found or "no problems")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
