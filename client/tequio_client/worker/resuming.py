"""Beginning earlier in the log than at its last point of rest, to go on from a head at hand.

A view that begins at the roster after a head's round learns every accepted set since, with the
follower's proofs, and the rounds can be replayed. It is done when that moves fewer bytes than
what is missing of the present head. The ledger's list of rounds only says where to look and what
it may cost: the roster and the opening, which names the head, are read from the log with proofs,
and whatever comes out has to have the promoted hash in the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from tequio_client.ledger.proofs import read_entries
from tequio_client.worker.replay import head_ref
from tequio_shared.contribution import RecordShape, k_for_trainers
from tequio_shared.errors import PeerError
from tequio_shared.ids import to_text
from tequio_shared.round import NextHead
from tequio_shared.run import RunView
from tequio_shared.statements.rounds import RoundOpen, RoundRoster

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tequio_client.worker.node import Node
    from tequio_shared.api.runs import RoundAnswer
    from tequio_shared.manifest import Manifest
    from tequio_shared.round import Head

log = structlog.get_logger(__name__)

CLOSED = 32
"""Most closed rounds that are replayed; the worker remembers no more accepted sets."""
ROUNDS = 128
"""Most rounds looked at, void ones too."""
ENTRY_BYTES = 700
"""What an entry of the log has, about, with its documents: reading on costs too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A view that begins right after a head's round, the index it stands after, and that head."""

    view: RunView
    after: int
    base: Head


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """Going on from a head: the rounds after it, and the bytes that it takes, about."""

    base: Head
    rounds: tuple[RoundAnswer, ...]
    size_bytes: int


async def cheaper_start(
    node: Node, manifest: Manifest, target: Head, after: int, heads: Iterable[Head]
) -> Earlier | None:
    """The best of these heads to go on from; None when fetching the target moves fewer bytes.

    `target` is the head to get to, `after` where reading would begin without us. Raises PeerError
    when the ledger's answers do not hold, LedgerUnavailableError.
    """
    ours = [one for one in heads if one.round < target.round]
    most = node.store.missing_bytes(head_ref(manifest, target))
    if not ours or not most:
        return None
    first = max(min(one.round for one in ours), target.round - ROUNDS)
    rounds = await node.ledger.rounds(manifest.run_id, after=first, limit=ROUNDS)
    ways = [_way(node, manifest, one, target, after, rounds) for one in ours]
    best = min((way for way in ways if way), key=lambda way: way.size_bytes, default=None)
    if best is None or best.size_bytes >= most:
        return None
    log.info(
        "going on from an older head",
        round=best.base.round,
        to=target.round,
        about_bytes=best.size_bytes,
        instead_of=most,
    )
    return await start_after(node, manifest, best.base, best.rounds)


async def start_after(
    node: Node, manifest: Manifest, base: Head, rounds: Sequence[RoundAnswer]
) -> Earlier:
    """Begin at the first of these rounds, which come after the head's; raises PeerError."""
    first = rounds[0]
    opened = next((one.opened_index for one in rounds if one.opened_index is not None), None)
    if opened is None:
        raise PeerError(f"no round has opened after round {base.round}")
    found = await read_entries(node.ledger, node.network_info, (first.roster_index, opened))
    roster, opening = found[first.roster_index].statement, found[opened].statement
    is_roster = isinstance(roster.body, RoundRoster) and roster.round == first.round
    if not is_roster or roster.run != manifest.run_id:
        raise PeerError(f"entry {first.roster_index} is not the roster of round {first.round}")
    if not isinstance(opening.body, RoundOpen) or opening.run != manifest.run_id:
        raise PeerError(f"entry {opened} opens no round of this run")
    if opening.body.head != to_text(base.hash):
        raise PeerError(f"round {opening.round} does not start from our head of {base.round}")
    pending = NextHead(round=base.round, parent=base.parent, set_root=base.set_root)
    view = RunView.light(node.network_info.id, manifest, head=None, next_head=pending)
    return Earlier(view=view, after=first.roster_index - 1, base=base)


def _way(
    node: Node,
    manifest: Manifest,
    base: Head,
    target: Head,
    after: int,
    rounds: Sequence[RoundAnswer],
) -> _Way | None:
    """What it takes to go on from that head; None when the ledger does not show the way."""
    passed = tuple(one for one in rounds if base.round < one.round)
    closed = [one for one in passed if one.round <= target.round and one.result]
    opened = next((one for one in passed if one.opened_index is not None), None)
    is_whole = bool(passed) and passed[0].round == base.round + 1 and closed[-1:] != []
    is_ours = opened is not None and opened.head == to_text(base.hash)
    if not is_whole or not is_ours or closed[-1].round != target.round or len(closed) > CLOSED:
        return None
    payloads = sum(one.accepted * _payload_bytes(manifest, one.accepted) for one in closed)
    entries = max(after - passed[0].roster_index, 0) * ENTRY_BYTES
    missing = node.store.missing_bytes(head_ref(manifest, base))
    return _Way(base=base, rounds=passed, size_bytes=missing + payloads + entries)


def _payload_bytes(manifest: Manifest, accepted: int) -> int:
    """Size of a payload in a round that accepted so many, at most: k falls as trainers rise."""
    algorithm = manifest.algorithm
    k = algorithm.k or k_for_trainers(accepted)
    shape = RecordShape(algorithm=algorithm.name, k=k, bits=algorithm.bits)
    return manifest.chunks * shape.record_bytes
