"""A snapshot of a log's state, proven by the statement that names it, to begin reading at.

Rules. The ledger's list only says which entries to read: each is proven against a signed
checkpoint that meets the reader's policy, and signed by the coordinator. The bytes come from anyone
and are checked by their hash. What a snapshot says of the entries before it is the coordinator's
word, which auditors and monitors repeat: it may decide what a program looks for, never what it
trains, signs or pays.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import NoReturn

import structlog
import trio

from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.http import LedgerUnavailableError, LogForkedError
from tequio_client.ledger.proofs import read_entries
from tequio_shared.api.network import SnapshotAnswer
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import Digest, digest_from_text, sha256, to_text
from tequio_shared.network.genesis import Genesis
from tequio_shared.served import snapshot
from tequio_shared.served.state import State
from tequio_shared.statements.network import LogSnapshot

log = structlog.get_logger(__name__)

FETCH_S = 120.0
"""Longest search for the bytes of a snapshot."""
_UNUSABLE = (LedgerUnavailableError, RefusedError, PeerError)


async def newest_snapshot(
    ledger: LedgerApi, network: LedgerNetwork, fetch: Callable[[Digest], Awaitable[bytes]]
) -> tuple[State, int] | None:
    """Read the newest usable snapshot: the state, and the number of entries that it folded.

    None if there is none; the log says why. Raises LogForkedError.
    """
    try:
        listed = (await ledger.snapshots()).snapshots
    except _UNUSABLE as err:
        log.warning("the list of snapshots cannot be read", error=str(err))
        listed = []
    for one in listed:
        if digest_from_text(one.layout) != snapshot.layout():
            log.info("a snapshot is of another version of Tequio", entries=one.size)
            continue
        try:
            return await _read(ledger, network, one, fetch)
        except LogForkedError:
            raise
        except _UNUSABLE as err:
            log.warning("a snapshot cannot be used", entries=one.size, error=str(err))
    log.info("no snapshot to begin at; reading the whole log")
    return None


async def _read(
    ledger: LedgerApi,
    network: LedgerNetwork,
    listed: SnapshotAnswer,
    fetch: Callable[[Digest], Awaitable[bytes]],
) -> tuple[State, int]:
    body = (await read_entries(ledger, network, [listed.index]))[listed.index].statement.body
    named = listed.size, listed.layout, listed.state
    is_named = isinstance(body, LogSnapshot) and (body.size, body.layout, body.state) == named
    if not is_named or listed.size > listed.index:
        raise PeerError(f"entry {listed.index} of the log does not name that snapshot")
    name = digest_from_text(listed.state)
    with trio.move_on_after(FETCH_S) as patience:
        raw = await fetch(name)
    if patience.cancelled_caught:
        raise PeerError(f"nobody has snapshot {to_text(name)[:10]}")
    state, size = await trio.to_thread.run_sync(partial(_decode, raw, name, network.genesis))
    if size != listed.size:
        raise PeerError(f"snapshot {to_text(name)[:10]} is of {size} entries, not {listed.size}")
    return state, size


def _decode(raw: bytes, name: Digest, genesis: Genesis) -> tuple[State, int]:
    if sha256(raw) != name:
        raise PeerError(f"snapshot {to_text(name)[:10]} came with hash {to_text(sha256(raw))[:10]}")
    return snapshot.decode(raw, genesis, _no_document)


def _no_document(name: Digest) -> NoReturn:
    raise KeyError(to_text(name))
