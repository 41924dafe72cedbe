"""The version of this software; the package's own is read from here when it is built."""

import re

from tequio_shared.errors import MalformedError

BUILD = "0.1.0"
_NUMBER = re.compile(r"(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})", re.ASCII)


def version_number(text: str) -> tuple[int, int, int]:
    """Parse a version such as 0.12.3, to compare it. Raises MalformedError."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise MalformedError(f"not a version of three numbers, such as 0.12.3: {text[:40]!r}")
    major, minor, patch = map(int, found.groups())
    return major, minor, patch
