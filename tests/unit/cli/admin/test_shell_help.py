"""Commands about the command line itself."""

from __future__ import annotations

from quarterdeck import __version__
from quarterdeck.cli.admin.shell_help import version


def test_the_version_is_also_data() -> None:
    assert version().value == {"version": __version__}
