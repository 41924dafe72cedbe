"""Variables of a trainer that a test confines; its files may be in any test's folder."""

from __future__ import annotations

import tempfile

from tequio_client.platform.sandbox import VARIABLE, SandboxRules

FOLDERS = tuple({tempfile.gettempdir(), "/tmp"})  # noqa: S108 - where it has temporary files
"""Folders that it may write."""
# A trainer empties the folder that TMPDIR names: it would be the developer's, with our own files.
CONFINED = {VARIABLE: SandboxRules(writes=FOLDERS).encode(), "TMPDIR": ""}
"""A trainer's sandbox, with the folders of all tests to write."""
