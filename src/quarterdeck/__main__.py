"""`python -m quarterdeck` is the `quarterdeck` command."""

from quarterdeck.cli.main import main

main()
