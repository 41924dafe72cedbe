"""The pieces of a large tree, shared out among sources that may each have only some of them.

Work is shared by pulling: each source has a few requests on their way and takes the next when one
is answered, so fast ones do more. Near the end idle sources also ask for what a slow one still
owes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from tequio_client.worker import crew
from tequio_client.worker.asking import DEPTH
from tequio_client.worker.blobs import PAYLOAD_BYTES, Op, Request, unpack_bits
from tequio_shared.errors import MalformedError, PeerError

if TYPE_CHECKING:
    from tequio_client.worker.asking import Asker
    from tequio_client.worker.partial import Partial
    from tequio_client.worker.tally import Tally
    from tequio_shared.ids import PeerKey


class PieceJob:
    """The pieces of one tree, shared among sources in units of at most PAYLOAD_BYTES."""

    def __init__(self, asker: Asker, partial: Partial, tally: Tally) -> None:
        self._asker = asker
        self._partial = partial
        self._tally = tally
        self._ref = partial.tree.ref
        self._todo = _units(partial.missing(), PAYLOAD_BYTES // self._ref.piece_bytes)
        self._flying: dict[tuple[int, int], list[tuple[PeerKey, float]]] = {}
        self._changed = trio.Event()
        self._tally.is_done = not self._todo

    async def work(self, peer: PeerKey) -> None:
        """Fetch from one source until the tree is done, or it has nothing more of it.

        Raises MalformedError when it lies, PeerError when it fails.
        """
        held = await self._held_by(peer)
        errors: list[PeerError] = []
        async with trio.open_nursery() as nursery:

            async def one() -> None:
                try:
                    await self._pull(peer, held)
                except PeerError as err:
                    errors.append(err)
                    nursery.cancel_scope.cancel()

            for _ in range(DEPTH):
                nursery.start_soon(one)
        if errors:
            raise next((err for err in errors if isinstance(err, MalformedError)), errors[0])

    async def _held_by(self, peer: PeerKey) -> list[bool] | None:
        """Which pieces the source has; None for all of them."""
        payload = await self._asker.ask(peer, Request(op=Op.HELD, name=self._ref.root))
        return unpack_bits(bytes(payload), self._ref.pieces) if payload else None

    async def _pull(self, peer: PeerKey, held: list[bool] | None) -> None:
        while not self._tally.is_done and self._has_use(held):
            unit = self._choose(peer, held)
            if unit is not None and self._is_here(unit):
                self._tally.is_done = self._partial.is_whole  # another fetch brought it
                continue
            if unit is None:
                with trio.move_on_after(0.25):
                    await self._changed.wait()
                continue
            await self._fetch(peer, unit)

    def _has_use(self, held: list[bool] | None) -> bool:
        return any(_first_run(held, unit) for unit in (*self._todo, *self._flying))

    def _choose(self, peer: PeerKey, held: list[bool] | None) -> tuple[int, int] | None:
        for at, unit in enumerate(self._todo):
            run = _first_run(held, unit)
            if run is not None:
                self._todo[at : at + 1] = _without(unit, run)
                return run
        return self._late_unit(peer, held)

    def _late_unit(self, peer: PeerKey, held: list[bool] | None) -> tuple[int, int] | None:
        """One that a single other source owes for longer than HEDGE_S."""
        for unit, carriers in self._flying.items():
            (carrier, since), *others = carriers
            late = trio.current_time() - since > crew.HEDGE_S
            wanted = late and not others and not self._is_here(unit)
            if carrier != peer and wanted and _first_run(held, unit) == unit:
                return unit
        return None

    async def _fetch(self, peer: PeerKey, unit: tuple[int, int]) -> None:
        carriage = (peer, trio.current_time())
        self._flying.setdefault(unit, []).append(carriage)
        written = False
        try:
            await self._fetch_unit(peer, unit)
            written = True
        finally:
            self._land(unit, carriage, is_written=written)

    async def _fetch_unit(self, peer: PeerKey, unit: tuple[int, int]) -> None:
        first, count = unit
        request = Request(op=Op.PIECES, name=self._ref.root, first=first, count=count)
        _, expect = self._ref.span(first, count)
        payload = await self._asker.ask_for_bytes(peer, request, expect)
        if len(payload) != expect:
            raise MalformedError(f"{len(payload)} bytes where {expect} were asked for")
        new = await trio.to_thread.run_sync(
            self._asker.store.write_pieces, self._partial, first, payload
        )
        self._tally.add(peer, new)

    def _land(
        self, unit: tuple[int, int], carriage: tuple[PeerKey, float], *, is_written: bool
    ) -> None:
        carriers = self._flying.get(unit, [])
        if carriage in carriers:
            carriers.remove(carriage)
        if is_written or not carriers:
            self._flying.pop(unit, None)
        if not is_written and not carriers and not self._is_here(unit):
            self._todo.insert(0, unit)
        self._tally.is_done = self._partial.is_whole
        self._changed.set()
        self._changed = trio.Event()

    def _is_here(self, unit: tuple[int, int]) -> bool:
        first, count = unit
        return all(self._partial.held()[first : first + count])


def _units(missing: list[int], most: int) -> list[tuple[int, int]]:
    """Group neighbouring pieces, at most `most` in a unit, as (first, count)."""
    units: list[tuple[int, int]] = []
    for index in missing:
        first, count = units[-1] if units else (-1, 0)
        if first + count == index and count < most:
            units[-1] = (first, count + 1)
        else:
            units.append((index, 1))
    return units


def _first_run(held: list[bool] | None, unit: tuple[int, int]) -> tuple[int, int] | None:
    """Find the first pieces of the unit that are held without a gap; None when none is."""
    if held is None:
        return unit
    first, end = unit[0], unit[0] + unit[1]
    while first < end and not held[first]:
        first += 1
    count = 0
    while first + count < end and held[first + count]:
        count += 1
    return (first, count) if count else None


def _without(unit: tuple[int, int], run: tuple[int, int]) -> list[tuple[int, int]]:
    """Cut the unit down to what lies before and after the run."""
    after = run[0] + run[1]
    left = [(unit[0], run[0] - unit[0]), (after, unit[0] + unit[1] - after)]
    return [(first, count) for first, count in left if count]
