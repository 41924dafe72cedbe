"""Why a question to the operating system has no answer."""

from __future__ import annotations

from tequio_shared.errors import TequioError


class AbsentError(TequioError):
    """There is no such service, library or device here: another source may know."""


class UnknownError(TequioError):
    """It is there and did not say anything that can be believed."""
