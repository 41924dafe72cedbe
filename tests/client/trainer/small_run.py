"""A small real run on disk: data, model, manifest and first head, for tests that train."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import UNSET, UnsetType

from tequio_client.dataset.build import (
    MANIFEST_NAME,
    ShardOptions,
    build_shards,
)
from tequio_client.dataset.sources import folder_files
from tequio_client.ipc import trainer
from tequio_client.tokenizers import ByteTokenizer
from tequio_client.trainer import first_head
from tequio_shared.head.contribution import payload_seal
from tequio_shared.head.head import head_hash, set_root
from tequio_shared.ids import ZERO_DIGEST, HeadHash, digest_from_text, key_from_text, to_text
from tequio_shared.round.corpus import held_out_file_name, train_file_name
from tequio_shared.round.manifest import (
    Algorithm,
    DataSpec,
    InnerParams,
    Manifest,
    RoundRules,
    WindowRules,
)
from tests.support.frozen_base import described

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_client.trainer.first_head import FirstHead
    from tequio_shared.head.layout import FrozenBase
    from tequio_shared.round.corpus import Corpus


SEQUENCE = 32
SAMPLES = 2
CONFIG = json.dumps(
    {
        "model_type": "llama",
        "vocab_size": 256,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "tie_word_embeddings": False,
    }
).encode()
FOUR_LAYERS = json.dumps({**json.loads(CONFIG), "num_hidden_layers": 4}).encode()
AUDIT_SEED = bytes(range(32))
KEYS = [to_text(bytes([number]) * 32) for number in range(1, 9)]
_WORDS = ("milpa", "mano", "metate", "masa", "maíz", "camino", "cargo", "pueblo", "tequio", "monte")


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallRun:
    """Paths and values of a run whose round 1 can begin."""

    folder: Path
    manifest: Manifest
    corpus: Corpus
    origin: FirstHead
    head: str
    base: tuple[Path, ...] = ()
    """Files of the frozen base."""

    @property
    def run(self) -> str:
        """Give the run id as text."""
        return to_text(self.manifest.run_id)

    @property
    def weights(self) -> str:
        """Name the first head's master copy."""
        return str(self.folder / "head-0.weights")

    @property
    def shards(self) -> tuple[trainer.Shard, ...]:
        """List the training shards."""
        return tuple(
            trainer.Shard(index=index, path=str(self.folder / train_file_name(index)))
            for index in range(len(self.corpus.train))
        )

    @property
    def held_out(self) -> tuple[trainer.Shard, ...]:
        """List the held-out shards."""
        return (trainer.Shard(index=0, path=str(self.folder / held_out_file_name(0))),)

    def prepare(self, command: int, **changes: object) -> trainer.Prepare:
        """Command for this run on the CPU."""
        prepare = trainer.Prepare(
            command=command,
            manifest=str(self.folder / "manifest.json"),
            config=str(self.folder / "config.json"),
            data_manifest=str(self.folder / MANIFEST_NAME),
            base=tuple(map(str, self.base)),
            device="cpu",
        )
        return msgspec.structs.replace(prepare, **changes)

    def train(self, command: int, name: str, **changes: object) -> trainer.Train:
        """Command for trainer 0 on windows 0..7; files are called after `name`."""
        train = trainer.Train(
            command=command,
            round=1,
            run=self.run,
            head=self.head,
            weights=self.weights,
            trainer=KEYS[0],
            k=256,
            windows=((0, 8),),
            shards=self.shards,
            payload_out=str(self.folder / f"{name}.payload"),
            feedback_out=str(self.folder / f"{name}.feedback"),
            delta_out=str(self.folder / f"{name}.delta"),
        )
        return msgspec.structs.replace(train, **changes)

    def audit(
        self, command: int, task: trainer.Train, header: str, **changes: object
    ) -> trainer.Audit:
        """Command to audit every chunk of that work, with leaves cut from its feedback."""
        path = Path(task.payload_out)
        opened, payload = path.with_suffix(".leaves"), path.read_bytes()
        opened.write_bytes(Path(task.feedback_out).read_bytes())
        audit = trainer.Audit(
            command=command,
            round=task.round,
            run=task.run,
            head=task.head,
            weights=task.weights,
            k=task.k,
            audited=trainer.ScreenCandidate(
                slot=0,
                trainer=task.trainer,
                header=header,
                seal=to_text(payload_seal(key_from_text(task.trainer), [payload])),
                payload=task.payload_out,
                windows=task.windows,
            ),
            shards=task.shards,
            chunks=tuple(range(self.origin.layout.chunks)),
            seed=to_text(AUDIT_SEED),
            delta_out=str(path.with_suffix(".repeated")),
            feedback_out=str(opened),
        )
        return msgspec.structs.replace(audit, **changes)

    def evaluate(self, command: int, **changes: object) -> trainer.Evaluate:
        """Command for a measure of the first head."""
        evaluate = trainer.Evaluate(
            command=command, round=0, weights=self.weights, shards=self.held_out
        )
        return msgspec.structs.replace(evaluate, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapters:
    """Adapters beside the model in a folder."""

    folder: Path
    bits: Literal[4] | UnsetType = UNSET


def texts(folder: Path, count: int = 60) -> Path:
    """Write text files that are not all alike; the same ones every time."""
    chance = random.Random(7)
    folder.mkdir(parents=True)
    for number in range(count):
        words = " ".join(chance.choices(_WORDS, k=120))
        (folder / f"{number:03d}.txt").write_text(f"{number} {words}\n", encoding="utf-8")
    return folder


DISTRO = Algorithm(
    name="distro", layout="tile64", k=256, bits=1, max_inner_steps=1, schedule=((1, 1 << 15, 0),)
)
"""Weights move by 2^-9 in a round."""


FOUR_STEPS = InnerParams(steps=4)


def small_run(
    path: Path,
    *,
    inner: InnerParams = FOUR_STEPS,
    algorithm: Algorithm = Algorithm(k=256),  # noqa: B008 - frozen
    adapters: Adapters | None = None,
    config: bytes = CONFIG,
) -> SmallRun:
    """Write a run; with adapters, the model is frozen, and a pair is beside each matrix.

    `config` is that of a model that is not frozen.
    """
    settings = ShardOptions(sequence=SEQUENCE, seed=1, held_out_bp=1_000, shard_bytes=20_000)
    source = folder_files(texts(path / "texts"), "*.txt")
    corpus = build_shards(source, ByteTokenizer(), settings, path)
    base: FrozenBase | UnsetType = UNSET
    files: Sequence[Path] = ()
    if adapters is None:
        first = first_head.random_head(config, seed=3, layout=algorithm.layout)
    else:
        base, files = described(adapters.folder, targets=(), bits=adapters.bits)
        frozen = (adapters.folder / "config.json").read_bytes()
        first = first_head.with_adapters(frozen, base, files, seed=3, layout=algorithm.layout)
    manifest = msgspec.structs.replace(_manifest(corpus, first, inner, algorithm), base=base)
    (path / "config.json").write_bytes(first.config)
    (path / "manifest.json").write_bytes(manifest.encode())
    first.write(path / "head-0.weights")
    root = digest_from_text(manifest.model.weights_root)
    head = head_hash(manifest.run_id, 0, HeadHash(ZERO_DIGEST), set_root([]), root, ZERO_DIGEST)
    return SmallRun(
        folder=path,
        manifest=manifest,
        corpus=corpus,
        origin=first,
        head=to_text(head),
        base=tuple(files),
    )


def _manifest(
    corpus: Corpus, first: FirstHead, inner: InnerParams, algorithm: Algorithm
) -> Manifest:
    return Manifest(
        name="small run",
        model=first.manifest_entry(sequence=SEQUENCE, aux_dtype=None),
        tokenizer=corpus.tokenizer,
        data=DataSpec(manifest=to_text(corpus.digest), root=to_text(corpus.root)),
        algorithm=algorithm,
        inner=inner,
        windows=WindowRules(samples=SAMPLES, tokens=SAMPLES * SEQUENCE, first=8, most=64),
        rounds=RoundRules(),
    )
