"""The command `tequio`, to be forked: it follows Windows' rules, as one that Python starts does."""

from __future__ import annotations

import os

from tequio_client import __main__ as client
from tests.support import windows_rules


def main() -> None:
    """Run the command."""
    assert windows_rules.SITE in os.environ["PYTHONPATH"], "the suite has all programs follow them"
    windows_rules.follow()
    client.main()
