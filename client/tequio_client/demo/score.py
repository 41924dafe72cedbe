"""Held-out quality of a run's heads, measured by a trainer process of the demo's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from tequio_client.demo.script import PROMPT
from tequio_client.ledger.api import LedgerApi
from tequio_client.link import messages as link
from tequio_client.worker.children.trainer import TrainerProcess, trainer_program
from tequio_shared.corpus import Corpus
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import digest_from_text
from tequio_shared.manifest import Manifest

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.demo.script import Script


SAMPLE_TOKENS = 240
PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Quality of one head on the held-out text."""

    bits_per_byte: float
    perplexity: float
    sample: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """Where the documents of the run and the measured head lie."""

    manifest: Path
    config: Path
    corpus: Path
    shards: tuple[link.Shard, ...]


async def measure(script: Script, url: str) -> tuple[Measured, Measured]:
    """Measure head 0 and the run's last promoted head, from what the seed holds."""
    async with LedgerApi(url) as ledger:
        (run,) = await ledger.runs()
        raw = await ledger.get_blob(digest_from_text(run.run))
    if raw is None:
        raise UserFacingError(f"the ledger at {url} has lost the run's manifest")
    manifest = Manifest.parse(raw)
    first, last = manifest.model.weights_root, run.weights_root or manifest.model.weights_root
    store = script.folder / "seed" / "store"
    await _wait_for(_tree(store, last))
    files = await trio.to_thread.run_sync(_prepare, script.folder / "measure", store, manifest)
    return await _evaluate(script, files, (_tree(store, first), _tree(store, last)))


def _prepare(folder: Path, store: Path, manifest: Manifest) -> _Files:
    folder.mkdir(exist_ok=True)
    path = folder / "manifest.json"
    path.write_bytes(manifest.encode())
    corpus_path = _blob(store, manifest.data.manifest)
    corpus = Corpus.parse(corpus_path.read_bytes())
    shards = [link.Shard(at, str(_tree(store, one.root))) for at, one in enumerate(corpus.held_out)]
    return _Files(
        manifest=path,
        config=_blob(store, manifest.model.config),
        corpus=corpus_path,
        shards=tuple(shards),
    )


async def _evaluate(
    script: Script, files: _Files, heads: tuple[Path, Path]
) -> tuple[Measured, Measured]:
    trainer = TrainerProcess(trainer_program(files.manifest.parent))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trainer.run)
        with trio.fail_after(PATIENCE_S):
            await trainer.ask(
                lambda command: link.Prepare(
                    command=command,
                    manifest=str(files.manifest),
                    config=str(files.config),
                    data_manifest=str(files.corpus),
                    device="cpu",
                ),
                link.Ready,
            )
            first = await _measured(trainer, script, files, heads[0])
            last = await _measured(trainer, script, files, heads[1])
        nursery.cancel_scope.cancel()
    return first, last


async def _measured(trainer: TrainerProcess, script: Script, files: _Files, head: Path) -> Measured:
    report = await trainer.ask(
        lambda command: link.Evaluate(
            command=command,
            round=0,
            weights=str(head),
            shards=files.shards,
            max_tokens=script.held_out_tokens,
            prompt=PROMPT,
            sample_tokens=SAMPLE_TOKENS,
        ),
        link.Evaluated,
    )
    return Measured(
        bits_per_byte=report.bits_per_byte, perplexity=report.perplexity, sample=report.sample
    )


async def _wait_for(path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        while not await trio.Path(path).exists():  # noqa: ASYNC110 - another process makes it
            await trio.sleep(0.1)


def _tree(store: Path, root: str) -> Path:
    text = digest_from_text(root).hex()
    return store / "trees" / text[:2] / text


def _blob(store: Path, name: str) -> Path:
    text = digest_from_text(name).hex()
    return store / "blobs" / text[:2] / text
