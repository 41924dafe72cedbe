"""Start a worker's evaluator: `python -m tequio_client.competition`, driven over pipes."""

import importlib
import os

from tequio_client.platform import child, sandbox

if __name__ == "__main__":
    child.lower_priority(os.getpid())  # before another thread begins
    confined = sandbox.enter()  # before the first thread
    sandbox.empty_temp()
    child.end_with_parent()  # before the imports, which take seconds
    importlib.import_module("tequio_client.competition.child").main(sandbox=confined)
