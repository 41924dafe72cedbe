"""A swarm in memory whose model is a real Llama, and its log, served over HTTP."""

from __future__ import annotations

import dataclasses
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from tequio_client.trainer import first_head
from tequio_client.worker.store.store import Store
from tequio_shared.api.network import NetworkAnswer
from tequio_shared.api.runs import RollbackAnswer, RunAnswer, RunsAnswer
from tequio_shared.ids import Digest, from_text, sha256, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile, encode_bundle
from tequio_shared.multiple_choice import MeasuredTask
from tequio_shared.round.corpus import Chat, Corpus, TrainShard
from tequio_shared.round.manifest import DataSpec, MeasureRules, Tokenizer
from tequio_shared.served.answers import published_heads
from tequio_shared.statements.network import CheckpointPublish
from tequio_shared.statements.runs import HeadMeasure, Sample, TaskCounts
from tests.support.answers import filled
from tests.support.http_servers import serving
from tests.support.memory_swarm import Swarm
from tests.support.small_tasks import small_task
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_client.plugins.archive import PluginArchive
    from tequio_client.trainer.first_head import FirstHead
    from tequio_shared.head.layout import FrozenBase
    from tequio_shared.round.manifest import Manifest
    from tests.client.verify.logs import SwarmLog


CONFIG = {
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "auto_map": {"AutoModelForCausalLM": "evil--code.Model"},
}
HOSTILE = "books | --- <script>alert(1)</script> [x](javascript:y) `a` # b\n\n---\nlicense: evil"
ROUNDS = 3
TASK = MeasuredTask.of(small_task(40, name="a_task").encode())
"""Answered by all members that measure, except in a run with a plug-in."""


def corpus(tokenizer: Tokenizer, separator: int, chat: Chat | UnsetType = UNSET) -> Corpus:
    """Data whose source is hostile text."""
    root = to_text(sha256(b"a shard"))
    shard = TrainShard(root=root, size_bytes=2_002, tokens=1_001, samples=15)
    return Corpus(
        source=HOSTILE,
        tokenizer=tokenizer,
        token_bytes=2,
        separator=separator,
        sequence=64,
        train=(shard,),
        held_out=(),
        chat=chat,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaRun:
    """A swarm that has trained a Llama, and its run's manifest."""

    swarm: Swarm
    manifest: Manifest

    def weights(self, number: int) -> NDArray[np.int32]:
        """The integer weights of the head of a round."""
        return self.swarm.arithmetic.weights[self.swarm.view.heads[number].weights_root]

    def store(self, folder: Path, *numbers: int) -> Path:
        """Fill a store with the heads of those rounds; returns its folder."""
        store = Store(folder, quota_bytes=1 << 30)
        for number in numbers:
            store.put_tree(self.weights(number).astype("<i4").tobytes(), PIECE_BYTES)
        return folder


def play(  # noqa: PLR0913 - one argument a variant
    *,
    is_tied: bool = False,
    tokenizer: bytes = b"",
    separator: int = 0,
    model: FirstHead | None = None,
    base: FrozenBase | None = None,
    chat: Chat | UnsetType = UNSET,
    measured: int = ROUNDS,
    plugin: PluginArchive | None = None,
) -> LlamaRun:
    """Let three volunteers train for some rounds; their updates are random and valid.

    With a base, the model consists of its adapters. The head of the round `measured` is measured.
    With a plug-in, `tokenizer` is the table of its tokens.
    """
    config = json.dumps(CONFIG | {"tie_word_embeddings": is_tied}).encode()
    made = model or _with_large_norms(first_head.random_head(config, seed=5, layout="flat"))
    config = made.config
    kind = Tokenizer(
        kind="plugin" if plugin else "huggingface" if tokenizer else "bytes",
        file=to_text(sha256(tokenizer)) if tokenizer else "",
        vocab_size=256,
    )
    data = corpus(kind, separator, chat)
    manifest = msgspec.structs.replace(
        tiny_manifest(most=ROUNDS),
        name="maize- 1.0",
        model=made.manifest_entry(sequence=64, aux_dtype=None),
        tokenizer=kind,
        data=DataSpec(manifest=to_text(data.digest), root=to_text(data.root)),
        measure=MeasureRules(every=1, tasks=UNSET if plugin else (TASK,)),
        base=base or UNSET,
        plugin=plugin.spec if plugin else UNSET,
    )
    swarm = Swarm(manifest=manifest, seed=3)
    arithmetic = swarm.arithmetic
    first = Digest(from_text(manifest.model.weights_root))
    arithmetic.weights[first] = made.master
    arithmetic.roots = dict.fromkeys(arithmetic.roots, (first, Digest(bytes(32))))
    for raw in (config, data.encode(), tokenizer, plugin.content if plugin else b""):
        swarm.blobs[sha256(raw)] = raw
    for name in ("ana", "luis", "inés"):
        swarm.volunteer(name)
    swarm.run()
    measure(swarm, measured)
    assert sorted(swarm.view.heads) == list(range(ROUNDS + 1))
    return LlamaRun(swarm=swarm, manifest=manifest)


def measure(swarm: Swarm, number: int) -> None:
    """Log a measure of a round's head by each drawn member, each one slightly higher."""
    (draw,) = (one for one in swarm.view.draws.open if one.head.round == number)
    by_key = {one.key: one for one in swarm.volunteers}
    for at, key in enumerate(draw.drawn):
        body = HeadMeasure(
            head=to_text(draw.head.hash),
            millibits=5_123_400 + at,
            size_bytes=1_000,
            tokens=1_000,
            sample=Sample(
                prompt="Once # upon", text=f" a *time*\n## the {'<b>end</b>' if at < 2 else 'day'}"
            ),
            tasks=tuple(
                TaskCounts(asked=40, right=20 + at, right_normed=25, close=2, close_normed=0)
                for _ in swarm.manifest.measures.answered
            )
            or UNSET,
        )
        swarm.post(by_key[key], StatementDraft(body, draw.head.round))


def _with_large_norms(made: FirstHead) -> FirstHead:
    """Raise the scales of norms above one, where 24 bits do not represent every integer."""
    master, pool = made.master.copy(), made.layout.matrix_end
    vectors = sum(one.parameters for one in made.layout.placements if not one.is_matrix)
    master[pool : pool + vectors] += np.arange(1, vectors + 1, dtype=np.int32) * 10_001
    return dataclasses.replace(made, master=master)


@cache
def played() -> LlamaRun:
    """The plain run, shared by tests; do not change it."""
    return play()


def publication(run: LlamaRun, number: int) -> CheckpointPublish:
    """The organisers' statement that publishes the head of a round."""
    head = run.swarm.view.heads[number]
    return CheckpointPublish(
        head=to_text(head.hash),
        weights_root=to_text(head.weights_root),
        location="user/maize",
        revision="ab" * 20,
    )


def publish(run: LlamaRun, number: int, body: CheckpointPublish) -> None:
    """Log the organisers' statement; raises RefusedError."""
    run.swarm.log_statement(run.swarm.organiser, StatementDraft(body, number))


@dataclass(slots=True)
class ServedLog:
    """A log that is served; a test may change what `log` holds."""

    log: SwarmLog
    url: str = ""
    seeds: list[dict[str, object]] = field(default_factory=list)
    """Address records of peers that serve the weights."""
    requests: list[str] = field(default_factory=list)
    head_round: int | None = None
    """Round of the head in the list of runs; None: the run's last."""
    rollbacks: tuple[RollbackAnswer, ...] = ()
    lie: Callable[[str], bytes | None] = lambda _: None
    """Gives an answer in place of that at a path; None: the true one."""

    def answer(self, path: str) -> bytes | None:
        """The body at a path; None if there is none."""
        where, _, rest = path.partition("?")[0].lstrip("/").partition("/")
        if (where, rest) == ("log", "checkpoint"):
            return self.log.signed_note()
        if where == "log":
            return self._tile(Tile.parse(rest))
        if rest.startswith("blobs/"):
            return self.log.blobs.get(Digest(from_text(rest.removeprefix("blobs/"))))
        if rest.partition("?")[0].endswith(("/rounds", "/measures")):
            return self.log.answer(path)
        answers = {"network": self._network(), "seeds": {"seeds": self.seeds}, "runs": self._runs()}
        found = answers.get(rest)
        return None if found is None else msgspec.json.encode(found)

    def _tile(self, tile: Tile) -> bytes | None:
        if tile.level != BUNDLE_LEVEL:
            hashes = self.log.tiles.get((tile.level, tile.index), [])
            return b"".join(hashes[: tile.width]) if len(hashes) >= tile.width else None
        start = tile.index * TILE_WIDTH
        leaves = self.log.leaves[start : start + tile.width]
        return encode_bundle(leaves) if len(leaves) == tile.width else None

    def _network(self) -> NetworkAnswer:
        genesis = self.log.swarm.genesis
        return filled(
            NetworkAnswer,
            network_id=to_text(genesis.network_id),
            genesis=to_text(genesis.encode()),
            origin=genesis.origin,
            log_key=genesis.log_key,
            coordinator=genesis.coordinator,
        )

    def _runs(self) -> RunsAnswer:
        view, manifest = self.log.swarm.view, self.log.swarm.manifest
        head = view.head if self.head_round is None else view.heads[self.head_round]
        assert head is not None
        run = filled(
            RunAnswer,
            run=to_text(manifest.run_id),
            name=manifest.name,
            manifest=to_text(manifest.run_id),
            state=view.state.value,
            round=view.number,
            members=3,
            opened_index=1,
            head=to_text(head.hash),
            head_round=head.round,
            rollbacks=self.rollbacks,
            published=published_heads(view),
            as_of=self.log.as_of(),
        )
        return filled(RunsAnswer, runs=(run,), as_of=self.log.as_of())


@contextmanager
def served_log(log: SwarmLog) -> Iterator[ServedLog]:
    """Serve a log on a free port."""
    site = ServedLog(log)

    class ServedLogHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = site.lie(self.path)
            found = site.answer(self.path) if found is None else found
            self.send_response(200 if found is not None else 404)
            body = found if found is not None else b'{"type": "urn:tequio:problem:not-found"}'
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as above
            site.requests.append(format % args)

    with serving(ServedLogHandler) as site.url:
        yield site
