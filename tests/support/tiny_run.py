"""A run over three small tensors, and the arithmetic of its heads for all members at once."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from tequio_shared.head.contribution import (
    ALGORITHM_CODES,
    KS,
    LEVELS,
    ContributionHeader,
    Records,
    encode_records,
    payload_root,
)
from tequio_shared.head.head import OuterStep, advance, aux_root, weights_root
from tequio_shared.head.layout import WeightLayout
from tequio_shared.ids import ZERO_DIGEST, Digest, HeadHash, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.network.full_run import FullRunView
from tequio_shared.round.manifest import (
    Algorithm,
    DataSpec,
    InnerParams,
    Manifest,
    ModelSpec,
    RoundRules,
    Tokenizer,
    WindowRules,
)
from tequio_shared.round.proof import RejectionReason
from tequio_shared.round.round import RoundPhase, RoundView

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tequio_shared.head.chain import NextHead
    from tequio_shared.ids import PeerKey

TENSORS = (("a.weight", (64, 64)), ("b.bias", (64,)), ("c.weight", (96, 64)))


def signer(name: str) -> Signer:
    """The key with that name, always the same."""
    return Signer(sha256(b"tequio test key", name.encode()))


def first_weights(seed: int = 7) -> NDArray[np.int32]:
    """Head 0 of the tiny model, int32[N], padding 0."""
    layout = WeightLayout.of(TENSORS, "flat")
    rng = np.random.default_rng(seed)
    tensors = {name: rng.integers(-(1 << 22), 1 << 22, shape, np.int32) for name, shape in TENSORS}
    return np.asarray(layout.flatten(tensors), np.int32)


def tiny_manifest(**rounds: int) -> Manifest:
    """Make the manifest of a run over three small tensors; keywords change `rounds`."""
    round_rules = RoundRules(warmup=5_000, train=20_000, train_limit=30_000, most=4)
    return Manifest(
        name="tiny",
        model=ModelSpec(
            config=to_text(sha256(b"config")),
            parameters=sum(int(np.prod(shape)) for _, shape in TENSORS),
            tensors=TENSORS,
            aliases=(),
            weights_root=to_text(weights_root(first_weights())),
            aux_root=to_text(ZERO_DIGEST),
            sequence=64,
        ),
        tokenizer=Tokenizer(kind="bytes", file="", vocab_size=256),
        data=DataSpec(manifest=to_text(sha256(b"data")), root=to_text(sha256(b"shards"))),
        algorithm=Algorithm(k=8, schedule=((1, 1 << 20, 0), (3, 1 << 19, 1 << 10))),
        inner=InnerParams(steps=4),
        # enough tokens that even a witness of one window earns something
        windows=WindowRules(samples=50_000, tokens=3_200_000, first=3, most=9),
        rounds=msgspec.structs.replace(round_rules, **rounds),
    )


class SwarmArithmetic:
    """Weights and payloads by root; computes each head once, when its round has closed."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.weights: dict[Digest, NDArray[np.int32]] = {}
        self.aux: dict[Digest, NDArray[Any] | None] = {ZERO_DIGEST: None}
        self.payloads: dict[Digest, bytes] = {}
        # by parent and round of the head made: after a rollback, two have the same parent
        self.roots: dict[tuple[HeadHash, int], tuple[Digest, Digest]] = {}
        # reasons for which honest witnesses reject a trainer's work
        self.blames: dict[PeerKey, RejectionReason] = {}
        self.hidden: set[PeerKey] = set()  # trainers whose payloads nobody can fetch
        self.idle: set[PeerKey] = set()  # trainers that did not do their work
        self.closed: set[PeerKey] = set()  # trainers that open nothing to their auditors
        self.lazy: set[PeerKey] = set()  # auditors that repeat nothing, and clear everybody
        self.accusers: set[PeerKey] = set()  # auditors that accuse everybody
        first = first_weights()
        self.weights[weights_root(first)] = first
        self.roots[HeadHash(ZERO_DIGEST), 0] = weights_root(first), ZERO_DIGEST

    def observe(self, view: FullRunView) -> None:
        """Compute the head that a closed round calls for, if it is new."""
        target, current = view.next_head, view.round
        if target is None or current is None or (target.parent, target.round) in self.roots:
            return
        if current.phase is not RoundPhase.OVER or current.number != target.round:
            return
        self._advance(current, target)

    def roots_of(self, view: FullRunView) -> tuple[Digest, Digest]:
        """Roots of the head that an honest member states now."""
        if view.next_head is not None:
            return self.roots[view.next_head.parent, view.next_head.round]
        assert view.head is not None
        return view.head.weights_root, view.head.aux_root

    def contribute(
        self, view: RoundView, author: PeerKey, rng: Random, windows: int
    ) -> ContributionHeader:
        """Make a valid contribution over the author's first `windows` windows."""
        shape = view.shape
        payload = encode_records(_records(view, rng), shape)
        root = payload_root(payload, shape)
        self.payloads[root] = payload
        assert view.head is not None
        return ContributionHeader(
            algorithm=ALGORITHM_CODES[shape.algorithm],
            bits=shape.bits,
            k=shape.k,
            inner_steps=4,
            chunk_count=view.chunks,
            round=view.number,
            window_first=view.assignment[view.slot_of[author]][0][0],
            window_count=windows,
            tokens=windows * self.manifest.windows.tokens,
            run_id=self.manifest.run_id,
            base_head=view.head.hash,
            trainer=author,
            payload_root=root,
        )

    def gains(
        self, current: RoundView, vouched: Iterable[int], witness: PeerKey
    ) -> tuple[tuple[int, int], ...]:
        """Gains that an honest witness measures: one in 20 is negative, of idle trainers half."""
        keys, found = current.roster.keys, []
        for slot in sorted(current.gains.windows.keys() & set(vouched)):
            draw = Random(f"gain {current.number} {slot}").randrange(20)  # fixed on purpose
            is_low = draw < (10 if keys[slot] in self.idle else 1)
            if keys[slot] != witness:
                found.append((slot, -1_000 if is_low else 5_000))
        return tuple(found)

    def _advance(self, current: RoundView, target: NextHead) -> None:
        assert current.head is not None
        step = OuterStep(
            run_id=self.manifest.run_id,
            round=target.round,
            parent=target.parent,
            layout=self.manifest.layout,
            params=self.manifest.outer_params(target.round, current.k),
        )
        made = advance(
            step,
            self.weights[current.head.weights_root],
            self.aux[current.head.aux_root],
            [
                (one.header.pack(), self.payloads[one.header.payload_root])
                for one in current.accepted().values()
            ],
        )
        self.weights[made.weights_root] = made.weights
        self.aux[aux_root(made.aux)] = made.aux
        self.roots[target.parent, target.round] = made.weights_root, made.aux_root


def _records(view: RoundView, rng: Random) -> Records:
    shape, chunks = view.shape, view.chunks
    assert shape.k in KS
    chance = np.random.default_rng(rng.getrandbits(64))
    indices = np.stack([np.sort(chance.permutation(4096)[: shape.k]) for _ in range(chunks)])
    return Records(
        scales=chance.integers(1, 120, chunks, np.uint8, endpoint=True),
        indices=indices.astype(np.uint16),
        levels=chance.choice(LEVELS[shape.bits], (chunks, shape.k)).astype(np.int8),
    )
