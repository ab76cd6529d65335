"""Runs the forwarder from its compiled copy: in the home this is `hook.py`, and the forwarder is beside it.

Python compiles the file of a command at every start, which takes the forwarder longer than all it does; a module is
compiled once. Nothing is written here, and a compiled copy that does not fit counts as none.
"""

import sys
from _frozen_importlib_external import SourceFileLoader  # importlib itself would have to be loaded

sys.dont_write_bytecode = True
name = "forwarder"
path = f"{__file__.rpartition('/')[0] or '.'}/{name}.py"
loader = SourceFileLoader(name, path)
try:
    code = loader.get_code(name)
except (EOFError, ImportError, TypeError, ValueError):  # cut off or damaged
    code = None
exec(code or loader.get_data(path), {"__name__": "__main__", "__file__": path})
