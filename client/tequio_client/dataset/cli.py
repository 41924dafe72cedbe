"""`tequio data`: the token shards of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.dataset.build import Settings
    from tequio_client.dataset.sources import Source
    from tequio_client.tokenizers import TextTokenizer

_MIB = 1 << 20


@click.group()
def data() -> None:
    """Prepare the data of a run."""


@data.command()
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
@click.option("--folder", type=click.Path(path_type=Path), help="Take the text files in here.")
@click.option("--pattern", default="*", show_default=True, help="Which files of the folder.")
@click.option("--dataset", help="Take a Hugging Face dataset: a name, or a folder.")
@click.option("--config", help="Configuration of that dataset.")
@click.option("--split", default="train", show_default=True, help="Split of that dataset.")
@click.option("--column", default="text", show_default=True, help="Column with the text.")
@click.option("--stdlib", is_flag=True, help="Take the sources of Python's standard library.")
@click.option(
    "--tokenizer",
    default="bytes",
    show_default=True,
    help="bytes, or a Hugging Face tokenizer: file, folder or name.",
)
@click.option("--separator", help="Token between documents, if it is no usual one.")
@click.option("--sequence", default=1024, show_default=True, type=click.IntRange(2, 1 << 20))
@click.option(
    "--held-out",
    default=100,
    show_default=True,
    type=click.IntRange(0, 5_000),
    help="Ten-thousandths of the documents that nobody trains on.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0))
@click.option("--shard-mib", default=64, show_default=True, type=click.IntRange(1, 1_024))
def build(  # noqa: PLR0913, PLR0917 - one parameter an option
    out: Path,
    folder: Path | None,
    pattern: str,
    dataset: str | None,
    config: str | None,
    split: str,
    column: str,
    stdlib: bool,  # noqa: FBT001 - click passes by name
    tokenizer: str,
    separator: str | None,
    sequence: int,
    held_out: int,
    seed: int,
    shard_mib: int,
) -> None:
    """Cut documents into token shards in the folder OUT, with a manifest that names them.

    The same documents and options give the same bytes on every machine.
    """
    from tequio_client.dataset import sources
    from tequio_client.dataset import sources as dataset_sources
    from tequio_client.dataset.build import MANIFEST_NAME, Settings

    if [folder is not None, dataset is not None, stdlib].count(True) != 1:
        raise click.UsageError("give one of --folder, --dataset and --stdlib")
    settings = Settings(
        sequence=sequence, seed=seed, held_out_bp=held_out, shard_bytes=shard_mib * _MIB
    )
    try:
        if folder is not None:
            source: Source = sources.folder(folder, pattern)
        elif dataset is not None:
            source = sources.hugging_face(dataset, config=config, split=split, column=column)
        else:
            source = sources.standard_library()
        _build(source, dataset_sources.load(tokenizer, separator), settings, out)
    except UserFacingError as err:
        raise click.ClickException(str(err)) from err
    except OSError as err:
        where = err.filename or out
        raise click.ClickException(f"cannot use {where} ({err.strerror})") from err
    click.echo(f"manifest: {out / MANIFEST_NAME}")


def _build(source: Source, tokenizer: TextTokenizer, settings: Settings, out: Path) -> None:
    from rich.progress import Progress

    from tequio_client.dataset.build import build as build_shards
    from tequio_shared.ids import to_text

    with Progress(transient=True) as bar:
        stages = {name: bar.add_task(name, total=None) for name in ("reading", "writing")}
        corpus = build_shards(
            source,
            tokenizer,
            settings,
            out,
            lambda stage, done, total: bar.update(stages[stage], completed=done, total=total),
        )
    click.echo(f"source:   {corpus.source}")
    click.echo(f"train:    {corpus.samples} samples in {len(corpus.train)} shards")
    click.echo(f"held out: {sum(one.documents for one in corpus.held_out)} documents")
    click.echo(f"root:     {to_text(corpus.root)}")
