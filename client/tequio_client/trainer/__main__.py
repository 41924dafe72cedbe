"""Start a trainer: `python -m tequio_client.trainer [console|json]`, driven over pipes."""

import sys

from tequio_client.trainer.main import main

if __name__ == "__main__":
    main("".join(sys.argv[1:2]) or "console")
