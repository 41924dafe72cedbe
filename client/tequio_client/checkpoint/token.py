"""The token for the Hub: from the environment, the system's keyring, or the Hub's own login.

It is never an option of a command: other users see those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from huggingface_hub import get_token

from tequio_client.keys.state import IdentityError
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_client.keys.system_keyring import SystemKeyring

VARIABLE = "HF_TOKEN"
SLOT = "hugging-face"


def find(environment: Mapping[str, str], keyring: SystemKeyring) -> str | None:
    """The first one that there is; None for none."""
    told = environment.get(VARIABLE, "").strip()
    if told:
        return told
    try:
        kept = keyring.get(SLOT)
    except IdentityError:  # no keyring, or a locked one: the Hub's own login may do
        kept = None
    return kept.decode() if kept else get_token()


def needed(environment: Mapping[str, str], keyring: SystemKeyring) -> str:
    """The same; raises UserFacingError for none."""
    found = find(environment, keyring)
    if found is None:
        raise UserFacingError(
            f"there is no token for the Hub: keep one with `tequio checkpoint token`, or set "
            f"{VARIABLE}"
        )
    return found


def keep(text: str, keyring: SystemKeyring) -> None:
    """Keep a token in the keyring; raises UserFacingError."""
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UserFacingError("that is no token: it is one word of letters, digits and _")
    keyring.put(SLOT, token.encode())
