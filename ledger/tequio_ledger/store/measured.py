"""What drawn members measured of a run's heads, head by head."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import UNSET
from sqlalchemy import select

from tequio_ledger.store.models import Measured
from tequio_shared import measures, samples
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.statements.rounds import HeadMeasure, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection, Row, Select


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRow:
    """What one member measured, and which entry says so."""

    entry: int
    peer: PeerKey
    said: HeadMeasure
    is_outlier: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredHead:
    """One head, by the round that made it; `rows` in the order of the log, at least one."""

    round: int
    head: bytes
    median: HeadMeasure
    rows: tuple[MeasuredRow, ...]
    shown: MeasuredRow | None = None
    """Whose sample of what the head writes is shown."""


def after(connection: Connection, run: bytes, number: int, limit: int) -> list[MeasuredHead]:
    """Give the measured heads of rounds after a number, ascending; 0 is a head's number too."""
    heads = select(Measured.round).where(Measured.run == run, Measured.round > number)
    return _heads(connection, run, heads.distinct().order_by(Measured.round).limit(limit))


def last(connection: Connection, run: bytes, limit: int) -> list[MeasuredHead]:
    """Give the last measured heads of a run, ascending."""
    heads = select(Measured.round).where(Measured.run == run)
    return _heads(connection, run, heads.distinct().order_by(Measured.round.desc()).limit(limit))


def _heads(connection: Connection, run: bytes, heads: Select[int]) -> list[MeasuredHead]:
    query = select(Measured.__table__).where(Measured.run == run, Measured.round.in_(heads))
    rows = connection.execute(query.order_by(Measured.round, Measured.entry))
    return [_head(number, of_head) for number, of_head in groupby(rows, lambda row: row.round)]


def _head(number: int, rows: Iterable[Row[tuple[object, ...]]]) -> MeasuredHead:
    found = list(rows)
    said = {
        PeerKey(row.peer): HeadMeasure(
            head=to_text(row.head),
            millibits=row.millibits,
            size_bytes=row.size_bytes,
            tokens=row.tokens,
            sample=UNSET if row.written is None else Sample(prompt=row.prompt, text=row.written),
        )
        for row in found
    }
    away, shown = measures.outliers(said), samples.shown(said)
    by_peer = {
        PeerKey(row.peer): MeasuredRow(
            entry=row.entry,
            peer=PeerKey(row.peer),
            said=said[PeerKey(row.peer)],
            is_outlier=PeerKey(row.peer) in away,
        )
        for row in found
    }
    return MeasuredHead(
        round=number,
        head=found[0].head,
        median=measures.median(said.values()),
        rows=tuple(by_peer.values()),
        shown=by_peer[shown[0]] if shown else None,
    )
