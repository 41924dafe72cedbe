"""Our part of the beacon: a secret committed to now and revealed with the next head we state.

The secret of a number is derived from the key (`Signer.beacon_secret`), so the file holds no
secret, only which number the log has us committed to. Written before the commitment is said.
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
    """Commitments that we made, and which of them the log has.

    `commit` and `confirm` wait for the disk: call them in a thread. Raises UserFacingError when
    the file cannot be used.
    """

    def __init__(self, file: Path, signer: Signer, net: NetworkId) -> None:
        self._file = file
        self._signer = signer
        self._net = net
        self._lock = threading.Lock()  # guards the state and its file
        self._state = self._read()

    def commit(self) -> Digest:
        """Make the next commitment, to be put into a statement."""
        with self._lock:
            state = self._state
            state.last += 1
            state.said = [*state.said, state.last][-_KEPT:]
            self._write()
            return sha256(self._secret(state.last))

    def confirm(self, commit: Digest, index: int) -> None:
        """Note that the log has this commitment of ours, at that index."""
        with self._lock:
            state = self._state
            known = {number for number, _ in state.confirmed}
            for number in state.said:
                if number not in known and sha256(self._secret(number)) == commit:
                    state.confirmed = [*state.confirmed, (number, index)][-_KEPT:]
                    self._write()

    def reveal(self, roster_index: int) -> bytes:
        """The secret that the round of that roster asks for: the last committed to before it.

        When we know of none, it is one that the ledger will refuse.
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
                f"{self._file} cannot be read ({err}): move it away to go on"
            ) from err

    def _write(self) -> None:
        files.write_or_explain(self._file, msgspec.json.encode(self._state))
