"""Bytes of a member in a round of a model of 124M parameters, reckoned by the workers' own rules.

Nothing is measured: the figures come from `worker.lending.needs`, which volunteers are shown, and
from the size of a head's step (`head.step.record_bytes`). Shards of the run's data are left out;
their size depends on the tokens of a round alone.

Run: python bench/followers.py [--document FILE] [--json FILE]
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import click
import msgspec
from loops import repository  # noqa: F401
from loops.table import markdown, put
from tests.support.tiny_run import tiny_manifest

from tequio_client.worker.lending.needs import ResourceNeeds, RoundPace, estimate, gossip_bytes
from tequio_shared.ids import sha256, to_text
from tequio_shared.round.corpus import Corpus, TrainShard
from tequio_shared.round.manifest import Manifest

WIDTH, INNER, LAYERS, VOCABULARY = 768, 2_048, 12, 50_304
K, DOWN_K = 512, 512
MEMBERS = (54, 256, 1_000)
HEADER = (
    "members in a round",
    "without a down link, each fetches, MB",
    "with one: a witness",
    "a member that follows",
    "of it the step",
    "of it gossip",
)
HOUR_MS = 3_600_000
MB = 1e6


@click.command()
@click.option("--document", type=click.Path(path_type=Path, exists=True))
@click.option("--json", "json_file", type=click.Path(path_type=Path))
def main(document: Path | None, json_file: Path | None) -> None:
    """Print the table, and put it into a document."""
    rows = [_row(members) for members in MEMBERS]
    table = markdown(HEADER, rows)
    click.echo(table)
    for name, down_k in (("without a down link", 0), ("with one", DOWN_K)):
        manifest = manifest_of(down_k)
        whole, weights = (_needs(manifest, 2, is_witness=one).first_bytes for one in (True, False))
        click.echo(f"head {name}, MB: a witness {whole / MB:,.0f}, others {weights / MB:,.0f}")
    if document:
        put(document, "followers", table)
    if json_file:
        json_file.write_text(json.dumps([dict(zip(HEADER, row, strict=True)) for row in rows]))


def _row(members: int) -> list[str]:
    plain, linked = manifest_of(0), manifest_of(DOWN_K)
    figures = (
        _needs(plain, members, is_witness=True).hourly_down_bytes,
        _needs(linked, members, is_witness=True).hourly_down_bytes,
        _needs(linked, members, is_witness=False).hourly_down_bytes,
        linked.step_bytes,
        gossip_bytes(members),
    )
    return [f"{members:,}", *(f"{one / MB:,.1f}" for one in figures)]


def _needs(manifest: Manifest, members: int, *, is_witness: bool) -> ResourceNeeds:
    """Needs of a member if a round is an hour long."""
    pace = RoundPace(members=members, length_ms=HOUR_MS, tokens=0)
    return estimate(manifest, _no_data(manifest), pace, is_witness=is_witness)


def manifest_of(down_k: int) -> Manifest:
    """A run of a Llama of 124M parameters with tied tables."""
    plain = tiny_manifest()
    sides = {
        **dict.fromkeys(("self_attn.q_proj", "self_attn.k_proj"), (WIDTH, WIDTH)),
        **dict.fromkeys(("self_attn.v_proj", "self_attn.o_proj"), (WIDTH, WIDTH)),
        **dict.fromkeys(("mlp.gate_proj", "mlp.up_proj"), (INNER, WIDTH)),
        "mlp.down_proj": (WIDTH, INNER),
    }
    tensors: list[tuple[str, tuple[int, ...]]] = [("embed_tokens.weight", (VOCABULARY, WIDTH))]
    for layer in range(LAYERS):
        tensors += [(f"layers.{layer}.{name}.weight", shape) for name, shape in sides.items()]
    parameters = sum(math.prod(shape) for _, shape in tensors)
    replace = msgspec.structs.replace
    return replace(
        plain,
        model=replace(
            plain.model, tensors=tuple(sorted(tensors)), parameters=parameters, sequence=1_024
        ),
        tokenizer=replace(plain.tokenizer, vocab_size=VOCABULARY),
        algorithm=replace(plain.algorithm, k=K, down_k=down_k),
    )


def _no_data(manifest: Manifest) -> Corpus:
    shard = TrainShard(root=to_text(sha256(b"shard")), size_bytes=1, tokens=1, samples=1)
    return Corpus(
        source="none",
        tokenizer=manifest.tokenizer,
        token_bytes=2,
        separator=0,
        sequence=manifest.model.sequence,
        train=(shard,),
        held_out=(),
    )


if __name__ == "__main__":
    main()
