"""The address book: the freshest signed address record of every peer we heard of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from tequio_shared.errors import PeerError
from tequio_shared.ids import peer_id_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from tequio_shared.addresses import AddressRecord
    from tequio_shared.ids import PeerKey

log = structlog.get_logger(__name__)

PEERS = 4096
"""Records kept; beyond that the oldest goes."""


class AddressBook:
    """Records by peer; what is too old is not given out. `clock` gives milliseconds since 1970."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._records: dict[PeerKey, AddressRecord] = {}

    def __len__(self) -> int:
        return len(self._records)

    def add(self, record: AddressRecord) -> bool:
        """Keep the record if it verifies, is current and is news; say whether it was."""
        old = self._records.get(record.author)
        if (old is not None and old.ts >= record.ts) or not record.is_current(self._clock()):
            return False
        try:
            record.verify()
        except PeerError as err:
            log.debug("an address record is refused", error=str(err))
            return False
        self._records[record.author] = record
        if len(self._records) > PEERS:
            del self._records[min(self._records.values(), key=lambda kept: kept.ts).author]
        return True

    def get(self, peer: PeerKey) -> AddressRecord | None:
        """Look one peer up; None when nothing current is known."""
        record = self._records.get(peer)
        return record if record is not None and record.is_current(self._clock()) else None

    def current(self) -> tuple[AddressRecord, ...]:
        """List the records that are current; the others are forgotten."""
        now = self._clock()
        gone = [peer for peer, kept in self._records.items() if not kept.is_current(now)]
        for peer in gone:
            log.debug("an address record is too old", peer=peer_id_text(peer))
            del self._records[peer]
        return tuple(self._records.values())

    def sample(self, most: int, rng: Random) -> tuple[AddressRecord, ...]:
        """Draw at most `most` current records."""
        current = self.current()
        return tuple(rng.sample(current, min(most, len(current))))
