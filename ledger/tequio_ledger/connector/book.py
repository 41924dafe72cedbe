"""What the connector said: a number a statement, and for whom each of its owners' keys is.

One line a statement, durable before anything is signed under its number: no number is ever used
twice, which would be a fault that others can prove, and no key is vouched for beyond the limit
because somebody pulled the plug. It holds what the log holds, so whoever reads it learns nothing
more; accounts are not in it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
import structlog

from tequio_ledger.store import files
from tequio_shared.errors import RefusedError, UserFacingError
from tequio_shared.fields import MaybeBytes32Text, Natural, Positive

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tequio_shared.statements.connectors import MemberVouch

log = structlog.get_logger(__name__)


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A number; with whom it was used for, or without: for nothing that stands."""

    seq: Positive
    peer: MaybeBytes32Text = ""
    owner: MaybeBytes32Text = ""
    until: Natural = 0


class Book:
    """The file; one caller at a time, who holds the lock of its folder."""

    def __init__(self, path: Path, now_ms: int) -> None:
        """Read it, and leave out what is over; raises UserFacingError."""
        self._path = path
        self._vouches: dict[str, _Line] = {}  # by peer
        self._before: _Line | None = None  # what the last one took the place of
        self.used = 0
        """The highest number that was ever taken."""
        for line in _read(path):
            self._take_in(line)
        self._tidy(now_ms)

    def take(self, seq: int, vouch: MemberVouch | None = None) -> None:
        """Use a number up, for this if it is for a vouch; raises RefusedError("read-only")."""
        if vouch is None:
            self._append(_Line(seq))
        else:
            self._append(_Line(seq, vouch.peer, vouch.owner, vouch.until))

    def give_up(self, seq: int) -> None:
        """Note that what was said under a number came to nothing; raises RefusedError."""
        self._append(_Line(seq))

    def keys_of(self, owner: str, now_ms: int) -> dict[str, int]:
        """List for which keys an owner stands now, and until when."""
        return {
            peer: line.until
            for peer, line in self._vouches.items()
            if line.owner == owner and line.until > now_ms
        }

    def _take_in(self, line: _Line) -> None:
        self.used = max(self.used, line.seq)
        if line.peer:
            self._before = self._vouches.get(line.peer)
            self._vouches[line.peer] = line
            return
        for peer in [peer for peer, one in self._vouches.items() if one.seq == line.seq]:
            del self._vouches[peer]
            if self._before is not None and self._before.peer == peer:
                self._vouches[peer] = self._before

    def _append(self, line: _Line) -> None:
        try:
            with self._path.open("ab") as file:
                end = file.tell()
                try:
                    file.write(msgspec.json.encode(line) + b"\n")
                    files.sync(file)
                except OSError:
                    os.truncate(self._path, end)
                    raise
        except OSError as err:
            log.error("the disk takes nothing, so nothing is said", error=str(err))  # noqa: TRY400 - the sentence says it
            raise RefusedError("read-only", "this connector cannot write now: try later") from err
        self._take_in(line)

    def _tidy(self, now_ms: int) -> None:
        """Write the file anew: the vouches that stand, and the highest number."""
        standing = [line for line in self._vouches.values() if line.until > now_ms]
        self._vouches = {line.peer: line for line in standing}
        lines = standing
        if self.used and all(line.seq != self.used for line in standing):
            lines = [*standing, _Line(self.used)]
        try:
            files.write_file(self._path, _written(lines))
        except OSError as err:
            raise UserFacingError(files.explain(err, self._path)) from err


def _written(lines: Iterable[_Line]) -> bytes:
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _read(path: Path) -> list[_Line]:
    """Read the whole lines; of one that a power cut left half, nothing was signed."""
    try:
        whole, _, _ = path.read_bytes().rpartition(b"\n")
    except FileNotFoundError:
        return []
    except OSError as err:
        raise UserFacingError(files.explain(err, path)) from err
    try:
        return [msgspec.json.decode(line, type=_Line) for line in whole.splitlines()]
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise UserFacingError(
            f"{path} is not what this connector wrote ({err}): restore it; without it, begin anew "
            "with another folder and key, which organisers have to name"
        ) from err
