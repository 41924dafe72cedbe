"""Keys that sign nothing: a simulation admits statements without checking their signatures.

This is the seam, and all of it: `SimulatedKey` in place of `Signer`, and `unchecked_output` in
place of `vrf.verify`. Outputs are still fixed by key and input, so lots fall as they would.
"""

from __future__ import annotations

import hashlib

from tequio_shared import vrf
from tequio_shared.ids import PeerKey
from tequio_shared.keys import SIGNATURE_BYTES, Signer

_DOMAIN = b"tequio/simulated-output\0"


class SimulatedKey:
    """The key of a simulated author; with a `Signer`, its signatures (but no lots) are real.

    Only an author whose statements prove a fault needs one: the report is verified.
    """

    def __init__(self, key: PeerKey, signer: Signer | None = None) -> None:
        self.key = key
        self._signer = signer

    def sign(self, message: bytes) -> bytes:
        return bytes(SIGNATURE_BYTES) if self._signer is None else self._signer.sign(message)

    def prove(self, alpha: bytes) -> bytes:
        """Bytes in place of a proof; `unchecked_output` does not read them."""
        return unchecked_output(self.key, alpha, b"").ljust(vrf.PROOF_BYTES, b"\0")


def unchecked_output(key: PeerKey, alpha: bytes, _proof: bytes) -> bytes:
    """Output of the key for the input, whatever the proof."""
    return hashlib.sha512(_DOMAIN + key + alpha).digest()
