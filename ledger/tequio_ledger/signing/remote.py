"""The log's key in another process: what the ledger asks it for, over its Unix socket."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

import msgspec

from tequio_ledger.signing.lines import (
    LINE_BYTES,
    Answer,
    Hello,
    Here,
    Other,
    Question,
    Refused,
    Sign,
    Signed,
)
from tequio_ledger.signing.notary import WouldForkError
from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.keys import check_key
from tequio_shared.notes import (
    KeyKind,
    VerifierKey,
    from_base64,
    open_checkpoint,
    to_base64,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.signing.notary import Prove
    from tequio_shared.ids import PeerKey
    from tequio_shared.notes import Checkpoint

ANSWER_S = 5.0


class RemoteNotary:
    """Asks `tequio-ledger sign`; its answers are checked before they count."""

    def __init__(self, path: Path, key: PeerKey | None = None) -> None:
        """Connect to nothing yet; without a key the signer's own word on it counts."""
        self._path = path
        self._key = key
        self._size = 0  # what it signed last, as far as we know

    @property
    def key(self) -> PeerKey:
        """The log's public key, asked for once; raises UserFacingError."""
        if self._key is None:
            here = self._ask(Hello())
            if not isinstance(here, Here):
                raise self._strange(f"{type(here).__name__} for a key")
            try:
                self._key = check_key(from_base64(here.key))
            except PeerError as err:
                raise self._strange(f"a key that is none ({err})") from err
            self._size = here.size
        return self._key

    def sign(self, checkpoint: Checkpoint, prove: Prove) -> bytes:
        """Have it signed.

        Raises WouldForkError, UnwritableError when it is away or cannot write, and UserFacingError
        for answers that are none.
        """
        vkey = VerifierKey(name=checkpoint.origin, kind=KeyKind.LOG, key=self.key)
        answer = self._ask(self._request(checkpoint, prove))
        if isinstance(answer, Other):
            self._size = answer.size
            answer = self._ask(self._request(checkpoint, prove))
        if not isinstance(answer, Signed):
            raise self._strange(f"{type(answer).__name__} for a signature")
        note = answer.note.encode()
        try:
            signed = open_checkpoint(note, vkey).checkpoint
        except PeerError as err:
            raise self._strange(f"no signature of ours ({err})") from err
        if signed != checkpoint:
            raise self._strange(f"a signature over size {signed.size}")
        self._size = checkpoint.size
        return note

    def _request(self, checkpoint: Checkpoint, prove: Prove) -> Sign:
        is_growth = 0 < self._size < checkpoint.size
        return Sign(
            origin=checkpoint.origin,
            size=checkpoint.size,
            root=to_base64(checkpoint.root),
            old=self._size,
            proof=tuple(map(to_base64, prove(self._size))) if is_growth else (),
        )

    def _ask(self, question: Question) -> Here | Signed | Other:
        try:
            raw = self._talk(msgspec.json.encode(question))
            answer: Answer = msgspec.json.decode(raw, type=Answer)
        except OSError as err:
            raise UnwritableError(
                f"the signer at {self._path} does not answer ({err.strerror or err}): start "
                "`tequio-ledger sign` with that --socket"
            ) from err
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as err:
            raise self._strange(f"no answer ({err})") from err
        if isinstance(answer, Refused):
            raise (WouldForkError if answer.is_fork else UnwritableError)(answer.reason)
        return answer

    def _talk(self, line: bytes) -> bytes:
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as line_out:
            line_out.settimeout(ANSWER_S)
            line_out.connect(str(self._path))
            with contextlib.suppress(BrokenPipeError):  # it may refuse us unheard, and say why
                line_out.sendall(line + b"\n")
            with line_out.makefile("rb") as answers:
                return answers.readline(LINE_BYTES)

    def _strange(self, what: str) -> UserFacingError:
        return UserFacingError(f"what listens at {self._path} is no signer of ours: it gave {what}")
