"""The address book: the freshest signed address record of every peer we heard of.

Whoever tells us of peers may lie in number only, for each record is signed by its own peer. So it
is bounded how many records one source may bring, and how many may lie in one place; a full book
makes room at the expense of whoever filled it. What the ledger names, and whom we were told to
begin with, is never let go: no flood can leave us among strangers alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from tequio_shared.addresses import is_loopback
from tequio_shared.errors import PeerError
from tequio_shared.ids import peer_id_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from tequio_shared.addresses import AddressRecord
    from tequio_shared.ids import NetworkId, PeerKey

log = structlog.get_logger(__name__)

PEERS = 4_096
"""Records kept in all."""
OF_SOURCE = 512
"""Records kept of one source: the network address of the peer that told us."""
AT_PLACE = 64
"""Records kept whose first address lies in one network, or has one name."""
LOOPBACK_TIMES = 16
"""How much more may lie on this machine, and be told from it."""
LEDGER = "ledger"
"""The source whose records are never let go while they are current."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    record: AddressRecord
    source: str


class AddressBook:
    """Records by peer; what is too old is not given out. `clock` gives milliseconds since 1970."""

    def __init__(self, net: NetworkId, clock: Callable[[], int]) -> None:
        self._net = net
        self._clock = clock
        self._kept: dict[PeerKey, _Kept] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, record: AddressRecord, source: str) -> bool:
        """Keep the record if it verifies, is current and is news; say whether it was."""
        old = self._kept.get(record.author)
        if (old is not None and old.record.ts >= record.ts) or not self._has_room(record, source):
            return False
        try:
            record.verify(self._net)
        except PeerError as err:
            log.debug("an address record is refused", error=str(err))
            return False
        self._keep(record, source)
        return True

    def get(self, peer: PeerKey) -> AddressRecord | None:
        """Look one peer up; None when nothing current is known."""
        kept = self._kept.get(peer)
        is_good = kept is not None and kept.record.is_current(self._clock())
        return kept.record if kept is not None and is_good else None

    def current(self) -> tuple[AddressRecord, ...]:
        """List the records that are current; the others are forgotten."""
        now = self._clock()
        gone = [peer for peer, kept in self._kept.items() if not kept.record.is_current(now)]
        for peer in gone:
            log.debug("an address record is too old", peer=peer_id_text(peer))
            del self._kept[peer]
        return tuple(kept.record for kept in self._kept.values())

    def sample(self, most: int, rng: Random) -> tuple[AddressRecord, ...]:
        """Draw at most `most` current records."""
        current = self.current()
        return tuple(rng.sample(current, min(most, len(current))))

    def _has_room(self, record: AddressRecord, source: str) -> bool:
        """Whether the record is current, and its place not full of others."""
        if not record.is_current(self._clock()):
            return False
        place, most = record.place, AT_PLACE * _times(record.place)
        others = (kept for peer, kept in self._kept.items() if peer != record.author)
        return source == LEDGER or sum(kept.record.place == place for kept in others) < most

    def _keep(self, record: AddressRecord, source: str) -> None:
        old = self._kept.get(record.author)
        if old is not None and source != LEDGER:
            self._kept[record.author] = replace(old, record=record)
            return
        self._kept[record.author] = _Kept(record=record, source=source)
        of_source = sum(kept.source == source for kept in self._kept.values())
        if source != LEDGER and of_source > OF_SOURCE * _times(source):
            self._drop_oldest(source)
        if len(self._kept) > PEERS:
            self._drop_oldest(self._greediest())

    def _greediest(self) -> str:
        counts = Counter(kept.source for kept in self._kept.values() if kept.source != LEDGER)
        return counts.most_common(1)[0][0] if counts else LEDGER

    def _drop_oldest(self, source: str) -> None:
        theirs = (kept.record for kept in self._kept.values() if kept.source == source)
        del self._kept[min(theirs, key=lambda record: record.ts).author]


def _times(network: str) -> int:
    return LOOPBACK_TIMES if is_loopback(network) else 1
