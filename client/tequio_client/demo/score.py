"""Held-out quality of the run's present head, measured by a trainer process of the demo's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from tequio_client.demo.script import PROMPT
from tequio_client.ledger_api import LedgerApi
from tequio_client.link import messages as link
from tequio_client.worker.main import trainer_environment
from tequio_client.worker.trainer_process import TrainerProcess
from tequio_shared.corpus import Corpus
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


async def measure(script: Script, url: str) -> Measured:
    """Measure the run's last promoted head (head 0 before the first), from the seed's store."""
    async with LedgerApi(url) as ledger:
        (run,) = await ledger.runs()
        manifest = Manifest.parse(await _blob(ledger, run.run))
        root = digest_from_text(run.weights_root or manifest.model.weights_root)
    store = script.folder / "seed" / "store"
    await _wait_for(_tree(store, root.hex()))
    return await _evaluate(script, manifest, store, root.hex(), run.head_round or 0)


async def _evaluate(
    script: Script, manifest: Manifest, store: Path, root: str, round_number: int
) -> Measured:
    folder = script.folder / "measure"
    folder.mkdir(exist_ok=True)
    data = _blob_path(store, manifest.data.manifest)
    corpus = Corpus.parse(data.read_bytes())
    trainer = TrainerProcess(trainer_environment(folder))
    manifest_path = folder / "manifest.json"
    manifest_path.write_bytes(manifest.encode())
    shards = tuple(
        link.Shard(at, str(_tree(store, digest_from_text(one.root).hex())))
        for at, one in enumerate(corpus.held_out)
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trainer.run)
        with trio.fail_after(PATIENCE_S):
            await trainer.ask(
                lambda wish: link.Prepare(
                    wish=wish,
                    manifest=str(manifest_path),
                    config=str(_blob_path(store, manifest.model.config)),
                    data_manifest=str(data),
                    device="cpu",
                ),
                link.Ready,
            )
            report = await trainer.ask(
                lambda wish: link.Evaluate(
                    wish=wish,
                    round=round_number,
                    weights=str(_tree(store, root)),
                    shards=shards,
                    max_tokens=script.held_out_tokens,
                    prompt=PROMPT,
                    sample_tokens=SAMPLE_TOKENS,
                ),
                link.Evaluated,
            )
        nursery.cancel_scope.cancel()
    return Measured(
        bits_per_byte=report.bits_per_byte, perplexity=report.perplexity, sample=report.sample
    )


async def _wait_for(path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        while not path.exists():  # noqa: ASYNC110 - another process makes it
            await trio.sleep(0.1)


async def _blob(ledger: LedgerApi, name: str) -> bytes:
    content = await ledger.get_blob(digest_from_text(name))
    if content is None:
        raise FileNotFoundError(name)
    return content


def _tree(store: Path, root: str) -> Path:
    return store / "trees" / root[:2] / root


def _blob_path(store: Path, name: str) -> Path:
    text = digest_from_text(name).hex()
    return store / "blobs" / text[:2] / text
