"""Start a trainer: `python -m tequio_client.trainer [console|json]`, driven over pipes.

With `benchmark DEVICE` it measures a device instead, with `selftest DEVICE` it checks that this
runtime works on it.
"""

import importlib
import sys

from tequio_client.platform import child, programs, sandbox

if __name__ == "__main__":
    if sys.argv[1:2] == ["selftest"]:
        selftest = importlib.import_module("tequio_client.trainer.selftest")
        sys.exit(selftest.main("".join(sys.argv[2:3]) or "auto"))
    # Before the first thread, before torch and before any file of a stranger.
    confined = sandbox.enter()
    if sys.argv[1:2] == ["benchmark"]:
        try:
            inner = importlib.import_module("tequio_client.trainer.inner")
        except ModuleNotFoundError as err:
            sys.exit(programs.not_installed(str(err.name)))
        sys.exit(inner.print_speed("".join(sys.argv[2:3]) or "auto"))
    sandbox.empty_temp()
    child.end_with_parent()  # before the imports, which take a second
    main = importlib.import_module("tequio_client.trainer.main").main
    main("".join(sys.argv[1:2]) or "console", sandbox=confined)
