"""Start a trainer: `python -m tequio_client.trainer [console|json]`, driven over pipes."""

import importlib
import sys

from tequio_client.platform import child

if __name__ == "__main__":
    child.end_with_parent()  # before the imports, which take a second
    main = importlib.import_module("tequio_client.trainer.main").main
    main("".join(sys.argv[1:2]) or "console")
