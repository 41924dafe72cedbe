"""Start a worker's evaluator: `python -m tequio_client.competition`, driven over pipes."""

import importlib

from tequio_client.system import parent

if __name__ == "__main__":
    parent.end_with_it()  # before the imports, which take seconds
    importlib.import_module("tequio_client.competition.child").main()
