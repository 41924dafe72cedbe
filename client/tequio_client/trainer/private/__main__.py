"""`python -m tequio_client.trainer.private [console|json]`: starts the process, driven by pipes."""

import importlib
import os
import sys

from tequio_client.platform import child, sandbox

if __name__ == "__main__":
    child.lower_priority(os.getpid())  # before another thread begins
    # Before its first thread, before torch and any file of somebody else.
    confined = sandbox.enter()
    child.end_with_parent()  # before the imports, which take a second
    sandbox.empty_temp()
    main = importlib.import_module("tequio_client.trainer.private.main")
    main.main("".join(sys.argv[1:2]) or "console", sandbox=confined)
