"""The key of an organiser, held against those who founded the network before it signs anything.

A mistyped folder would otherwise get a key of its own, which is registered, and refused then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.keys import identity
from tequio_client.keys.state import Kept
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.ledger.api import Network
    from tequio_shared.keys import Signer


def of(folder: Path, network: Network) -> Signer:
    """Read the organiser's key in a folder, which the caller has locked; makes none.

    Raises UserFacingError where there is none, or the network knows it as no organiser's.
    """
    name = network.genesis.name
    if identity.kept(folder) is Kept.ABSENT:
        raise UserFacingError(
            f"there is no key in {folder}: give the folder of an organiser of the network {name!r} "
            "with --dir"
        )
    signer = identity.load(folder)
    if signer.key not in network.genesis.organiser_keys:
        raise UserFacingError(
            f"{to_text(signer.key)}, the key in {folder}, is no organiser of the network {name!r}: "
            "give the folder of one with --dir"
        )
    return signer
