"""What is wrong with a key, in the user's language; the English templates are `key_errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from tequio_client.keys.state import TEMPLATES

if TYPE_CHECKING:
    from tequio_client.keys.state import IdentityError

CONTEXT = "keys"


def say(error: IdentityError) -> str:
    """A whole sentence."""
    said = QCoreApplication.translate(CONTEXT, TEMPLATES[error.code]).format(**error.values)
    return f"{said[:1].upper()}{said[1:]}."
