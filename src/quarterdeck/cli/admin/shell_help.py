"""About the command line itself: completion, help, version."""

from __future__ import annotations

from typing import Annotated

from quarterdeck import __version__
from quarterdeck.cli.common import Output, argument, command, group, out
from quarterdeck.cli.quick.shell_scripts import SCRIPTS, SHELLS, Shell

app = group("Help, version and completion.")


@command(app)
def completion(
    shell: Annotated[Shell, argument("Shell to complete for.", metavar="|".join(SHELLS))],
) -> None:
    """Print a shell completion script. It also completes session and request names, and says how to install it."""
    out.file.write(SCRIPTS[shell])


@command(app, "help")
def help_(
    names: Annotated[list[str] | None, argument("Command to describe.", metavar="[COMMAND]…")] = None,
) -> None:
    """Describe a command, or list all of them."""
    # Empty: the entry point turns `qd help COMMAND` into `qd COMMAND --help` before any command runs.


@command(app)
def version() -> Output:
    """Print the version."""
    return Output({"version": __version__}, [f"quarterdeck {__version__}"])
