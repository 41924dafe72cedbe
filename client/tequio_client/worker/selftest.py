"""The self-test of an installation's worker: it imports everything that a worker may need.

The app's self-test runs it as a process of its own, because the app loads none of this.
"""

from __future__ import annotations

import sys

from tequio_client.platform.import_check import import_problems

PACKAGES = tuple(
    f"tequio_client.{name}"
    for name in ("worker", "keys", "ledger", "releases", "probe", "platform", "control_socket")
)
LATE_IMPORTS = ("miniupnpc", "mnemonic", "keyring.backends", "pynvml")


def main() -> None:
    """A failure ends the process with status 1 and a line for each module."""
    if problems := list(import_problems(PACKAGES, *LATE_IMPORTS)):
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
