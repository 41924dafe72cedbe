"""What a person may mean by a few characters: an entry, a key, a run, a hash."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.store import entry_rows, read
from tequio_shared.errors import MalformedError
from tequio_shared.ids import (
    DIGEST_BYTES,
    Digest,
    PeerKey,
    RunId,
    from_text,
    key_from_peer_id,
    to_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from tequio_ledger.service import Ledger

MOST = 20
_HEX = re.compile("[0-9A-Fa-f]{64}")
_NUMBER = re.compile("[0-9]{1,15}")
_FRONT = re.compile("[A-Za-z0-9_-]{3,43}")
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing that fits: where it is, and what it is."""

    path: str
    name: str
    what: str


def find(connection: Connection, ledger: Ledger, asked: str) -> list[Found]:
    """List what fits, the likeliest first, none twice."""
    found: dict[str, Found] = {}
    for one in _all(connection, ledger, asked):
        found.setdefault(one.path, one)
        if len(found) == MOST:
            break
    return list(found.values())


def _all(connection: Connection, ledger: Ledger, asked: str) -> Iterator[Found]:
    yield from _entries(asked, ledger.published.size)
    digest = _digest(asked)
    if digest is not None:
        yield from _named(connection, ledger, digest)
    yield from _runs(ledger, asked)
    yield from _competitions(ledger, asked)
    if digest is None and _FRONT.fullmatch(asked):
        yield from _fronts(connection, asked)


def _entries(asked: str, size: int) -> Iterator[Found]:
    plain = asked.removeprefix("#").replace(",", "")
    if _NUMBER.fullmatch(plain) and int(plain) < size:
        yield Found(path=f"/entries/{int(plain)}", name=f"Entry {int(plain):,}", what="of the log")


def _digest(asked: str) -> Digest | None:
    """A key or hash, in any of the ways in which they are written."""
    if _HEX.fullmatch(asked):
        return Digest(bytes.fromhex(asked))
    try:
        if asked.startswith("12D3Koo"):
            return Digest(key_from_peer_id(asked))
        return Digest(from_text(asked))
    except MalformedError:
        return None


def _named(connection: Connection, ledger: Ledger, digest: Digest) -> Iterator[Found]:
    text = to_text(digest)
    if read.peer(connection, PeerKey(digest)) is not None:
        yield _peer(digest)
    if RunId(digest) in ledger.state.runs:
        yield Found(path=f"/runs/{text}", name=text, what="a run")
    index = entry_rows.index_of_id(connection, digest)
    if index is not None and index < ledger.published.size:
        name = f"Entry {index:,}"
        yield Found(path=f"/entries/{index}", name=name, what="has this statement id")
    for run, number in entry_rows.rounds_of_head(connection, digest, MOST):
        path = f"/runs/{to_text(run)}/rounds/{number}"
        yield Found(path=path, name=f"Round {number:,}", what="started from this head")
    if ledger.blobs.has(digest):
        yield Found(path=f"/v1/blobs/{text}", name=text, what="a blob, as it is")


def _runs(ledger: Ledger, asked: str) -> Iterator[Found]:
    for run, view in list(ledger.state.runs.items()):
        if asked.casefold() in view.manifest.name.casefold() or to_text(run).startswith(asked):
            yield Found(path=f"/runs/{to_text(run)}", name=view.manifest.name, what="a run")


def _competitions(ledger: Ledger, asked: str) -> Iterator[Found]:
    for view in list(ledger.state.competitions.views.values()):
        name, text = view.rules.name, to_text(view.id)
        if asked.casefold() in name.casefold() or text.startswith(asked):
            yield Found(path=f"/competitions/{text}", name=name, what="a competition")


def _fronts(connection: Connection, asked: str) -> Iterator[Found]:
    """Keys that begin so, in base64url."""
    low, high = (_filled(asked, digit) for digit in ("A", "_"))
    for key in entry_rows.keys_like(connection, low, high, MOST):
        if to_text(key).startswith(asked):
            yield _peer(key)


def _filled(front: str, digit: str) -> bytes:
    """The least or the greatest 32 bytes whose text begins so."""
    bits = "".join(f"{_DIGITS.index(char):06b}" for char in front.ljust(43, digit))
    return int(bits[: 8 * DIGEST_BYTES], 2).to_bytes(DIGEST_BYTES, "big")


def _peer(key: bytes) -> Found:
    return Found(path=f"/peers/{to_text(key)}", name=to_text(key), what="a key")
