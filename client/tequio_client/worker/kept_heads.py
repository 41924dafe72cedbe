"""The heads whose weights this folder's store has, or has begun to fetch, written down.

A later life goes on from one of them instead of fetching all of the present head. The file is a
hint: a head counts when its hash is made of what the file says, and when the log names that hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import structlog
from msgspec import Meta, Struct

from tequio_client import files
from tequio_shared.errors import PeerError
from tequio_shared.fields import Bytes32Text, Natural
from tequio_shared.ids import HeadHash, digest_from_text, to_text
from tequio_shared.round import Head

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.ids import RunId

log = structlog.get_logger(__name__)

FILE = "heads.json"
MOST = 8
"""Heads written down; the store's quota decides whether their bytes are still there."""
_MOST_BYTES = 1 << 16


class _Head(Struct, frozen=True, forbid_unknown_fields=True):
    round: Natural
    parent: Bytes32Text
    set_root: Bytes32Text
    weights_root: Bytes32Text
    aux_root: Bytes32Text


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    run: Bytes32Text
    heads: Annotated[tuple[_Head, ...], Meta(max_length=MOST)]


class KeptHeads:
    """The record of one run in one folder; another run's is replaced by it."""

    def __init__(self, folder: Path, run: RunId) -> None:
        self._path = folder / FILE
        self._run = run
        self.heads: tuple[Head, ...] = self._recall()  # the last one first

    def remember(self, head: Head) -> None:
        """Write a head down; blocks. Raises UserFacingError."""
        others = [one for one in self.heads if one != head]
        if self.heads[:1] == (head,):
            return
        self.heads = (head, *others)[:MOST]
        heads = tuple(
            _Head(
                round=one.round,
                parent=to_text(one.parent),
                set_root=to_text(one.set_root),
                weights_root=to_text(one.weights_root),
                aux_root=to_text(one.aux_root),
            )
            for one in self.heads
        )
        content = msgspec.json.encode(_File(run=to_text(self._run), heads=heads))
        files.write_or_explain(self._path, content)

    def _recall(self) -> tuple[Head, ...]:
        try:
            with self._path.open("rb") as file:
                found = msgspec.json.decode(file.read(_MOST_BYTES), type=_File)
            if found.run != to_text(self._run):
                return ()
            return tuple(self._head(one) for one in found.heads)
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.MsgspecError, PeerError) as err:
            log.warning("not read, and not needed", file=str(self._path), error=str(err))
            return ()

    def _head(self, said: _Head) -> Head:
        return Head.of(
            self._run,
            said.round,
            parent=HeadHash(digest_from_text(said.parent)),
            set_root=digest_from_text(said.set_root),
            weights_root=digest_from_text(said.weights_root),
            aux_root=digest_from_text(said.aux_root),
        )
