"""The wheel: what a user installs runs without the checkout, data files and all."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = 300


def run(*argv: str | Path, cwd: Path, **env: str) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(cwd), "LANG": "C.UTF-8", **env}
    done = subprocess.run(argv, cwd=cwd, env=environ, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build: Sequence[str | Path] = ("wheel", ROOT, "--no-deps", "--no-build-isolation", "--no-index", "-w", folder)
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", *build, cwd=folder)
    (made,) = folder.glob("quarterdeck-*.whl")
    return made


@pytest.fixture(scope="module")
def scratch(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has the wheel, and the dependencies of this one."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    # A plain path: the other .pth files there are not read, so the editable install of this checkout is not found.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = ("--disable-pip-version-check", "--python", python, "install", "--no-deps", "--no-index", wheel)
    run(sys.executable, "-m", "pip", *install, cwd=folder)
    return folder


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    source = ROOT / "src"
    files = {str(f.relative_to(source)) for f in source.rglob("*") if f.is_file() and "__pycache__" not in f.parts}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name and ".data/" not in name}
    assert packed == {name for name in files if ".egg-info/" not in name}


def test_the_manual_page_lies_where_pipx_and_man_look(scratch: Path) -> None:
    assert (scratch / "share" / "man" / "man1" / "qd.1").read_text().startswith('.\\" Written by')
    assert (scratch / "share" / "man" / "man1" / "quarterdeck.1").read_text() == ".so man1/qd.1\n"


@pytest.mark.timeout(4 * SECONDS)
def test_the_demo_plays_from_an_installed_wheel(scratch: Path, tmp_path: Path) -> None:
    where = run(scratch / "bin" / "python", "-c", "import quarterdeck; print(quarterdeck.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(scratch)
    demo = ("demo", "--lines", "--speed", "200", "--patience", "0.5")
    output = run(scratch / "bin" / "qd", *demo, cwd=tmp_path, TMPDIR=str(tmp_path))
    assert "◆ Bash kubectl delete pvc" in output
    assert "Session ended" in output
