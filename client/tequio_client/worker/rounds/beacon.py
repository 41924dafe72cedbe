"""This key's part in the beacon: a secret committed to now and revealed with the next attestation.

The n-th secret is derived from the key (`Signer.beacon_secret`), so the file holds no secret: only
the numbers that were committed to, and where the log has them. It is written before the statement
with the commitment is sent: a commitment that is in the log but not in the file could never be
revealed.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import msgspec

from tequio_client import files
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import Digest, NetworkId, sha256

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.keys import Signer

_KEPT = 8


class _State(msgspec.Struct, forbid_unknown_fields=True):
    confirmed: list[tuple[int, int]] = []
    last: int = 0
    said: list[int] = []


class BeaconSecrets:
    """Commitments of this key, and which of them the log has.

    `commit` and `confirm` block on the disk: call them in a thread. Raises UserFacingError when the
    file cannot be used.
    """

    def __init__(self, file: Path, signer: Signer, net: NetworkId) -> None:
        self._file = file
        self._signer = signer
        self._net = net
        self._lock = threading.Lock()  # guards the state and its file
        self._state = self._read()

    def make_commitment(self) -> Digest:
        """Create the next commitment, for a statement."""
        with self._lock:
            # A number is used up even if its statement never gets out: after a crash nobody knows
            # whether the ledger has it, and one secret behind two commitments would be predictable.
            state = self._state
            state.last += 1
            state.said = [*state.said, state.last][-_KEPT:]
            self._write()
            return sha256(self._secret(state.last))

    def confirm(self, commit: Digest, index: int) -> None:
        """Record that the log has this commitment, at that index."""
        with self._lock:
            state = self._state
            known = {number for number, _ in state.confirmed}
            for number in state.said:
                if number not in known and sha256(self._secret(number)) == commit:
                    state.confirmed = [*state.confirmed, (number, index)][-_KEPT:]
                    self._write()

    def reveal(self, roster_index: int) -> bytes:
        """The secret for the round of that roster: of the last commitment in the log before it.

        If none is known, a secret that the ledger will refuse.
        """
        before = [number for number, index in self._state.confirmed if index < roster_index]
        return self._secret(before[-1] if before else 0)

    def _secret(self, number: int) -> bytes:
        return self._signer.beacon_secret(self._net, number)

    def _read(self) -> _State:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_State)
        except FileNotFoundError:
            return _State()
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as err:
            raise UserFacingError(
                f"cannot read {self._file} ({err}): move it away and start the worker again"
            ) from err

    def _write(self) -> None:
        files.write_for_user(self._file, msgspec.json.encode(self._state))
