"""Rounds of thousands of members, whose statements are signed before the time that is measured.

The members are those of `tests.support.signing_swarm`: they sign what a round needs and train
nothing. They know the round from the log, which is read over HTTP, as the ledger is another
process. Every statement is one that the ledger admits: with its signature, its place in the
author's chain, its lot (a verifiable random output) and the windows that the roster gave.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import httpx
from tests.support.signing_swarm import SigningPeer, manifest

from ledgers.posts import bundles, open_run_of, post_all
from tequio_client.ledger.api import LedgerNetwork
from tequio_shared.api.network import LogEvent
from tequio_shared.ids import Digest, to_text
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile, parse_bundle
from tequio_shared.round.round import RoundPhase
from tequio_shared.served.state import State
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledgers.program import LedgerProgram
    from tequio_shared.round.round import RoundView

PATIENCE_S = 120.0
_PAUSE_S = 0.05
_LONG_MS = 3_600_000


class FoldedLog:
    """The state of a ledger, folded from its log over HTTP."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=60)
        network = LedgerNetwork.parse(self._http.get("/v1/network").content)
        self._documents: dict[Digest, bytes] = {}
        self.state = State(network.genesis, self._document)
        self.size = 0

    def clock(self) -> int:
        return time.time_ns() // 1_000_000

    def read_on(self) -> None:
        """Fold what was published since the last call."""
        size = int(self._http.get("/log/checkpoint").text.split("\n")[1])
        while self.size < size:
            index, skipped = divmod(self.size, TILE_WIDTH)
            width = min(size - index * TILE_WIDTH, TILE_WIDTH)
            tile = Tile(level=BUNDLE_LEVEL, index=index, width=width)
            answer = self._http.get(f"/log/{tile.path()}").raise_for_status()
            for leaf in parse_bundle(answer.content)[skipped:]:
                entry = Entry.parse(leaf)
                self.state.apply(self.size, entry, entry.statement.ts)
                self.size += 1

    def _document(self, name: Digest) -> bytes:
        if name not in self._documents:
            answer = self._http.get(f"/v1/blobs/{to_text(name)}").raise_for_status()
            self._documents[name] = answer.content
        return self._documents[name]


class SignedRounds:
    """One run, and the members that keep it going."""

    def __init__(self, program: LedgerProgram, members: int) -> None:
        self._program = program
        self._log = FoldedLog(program.url)
        self._log.read_on()
        rules = manifest(
            min_members=members, most_members=members, warmup=0, grace=0, attest=_LONG_MS,
            train=_LONG_MS, train_limit=_LONG_MS, witness=_LONG_MS,
        )  # fmt: skip
        self._sizes: list[int] = []
        self._run = open_run_of(program, rules)
        self.members = [SigningPeer(f"load {at}", self._log, self._run) for at in range(members)]
        self._post([one.register(self._log.clock()) for one in self.members])
        self._post([one.ready() for one in self.members])

    @property
    def entries(self) -> int:
        """Entries of the log that were read."""
        return self._log.size

    @property
    def event_bytes(self) -> int:
        """Mean size of the events of a round's statements."""
        return round(sum(self._sizes) / len(self._sizes))

    def attestations(self) -> list[bytes]:
        """Wait for the round's roster, and sign the head for each member."""
        self._until(RoundPhase.ATTEST)
        return self._signed(lambda one: one.attest())

    def commitments(self) -> list[bytes]:
        self._until(RoundPhase.TRAIN)
        return self._signed(lambda one: one.commit())

    def close(self) -> None:
        """Send what the committee and the auditors owe, which nobody measures."""
        self._post([one.report() for one in self.members if one.owes_audit()])
        view = self._until(RoundPhase.WITNESS)
        elected = [one for one in self.members if view.slot_of[one.key] in view.elected]
        self._post([one.prove() for one in elected])

    def _signed(self, sign: Callable[[SigningPeer], Entry]) -> list[bytes]:
        leaves = [sign(one).leaf() for one in self.members]
        self._sizes += [len(LogEvent(self._log.size, one).encode()) for one in leaves]
        return bundles(leaves, 1)

    def _post(self, entries: list[Entry]) -> None:
        asyncio.run(post_all(self._program.url, [bundles([one.leaf() for one in entries])]))

    def _until(self, phase: RoundPhase) -> RoundView:
        deadline_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline_s:
            self._log.read_on()
            view = self._log.state.run(self._run).round
            if view is not None and view.phase is phase:
                return view
            time.sleep(_PAUSE_S)
        raise SystemExit(f"the run did not come to {phase.value}: {self._log.state.run(self._run)}")
