"""`tequio data`: builds the token shards of a run."""

from __future__ import annotations

from pathlib import Path

import click

from tequio_shared.errors import UserFacingError

_MIB = 1 << 20


@click.group()
def data() -> None:
    """Prepare the training data of a run."""


@data.command()
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Read the text files in this folder."
)
@click.option("--pattern", default="*", show_default=True, help="Which files of --folder to read.")
@click.option("--dataset", help="Read a Hugging Face dataset: a name, or a folder.")
@click.option("--config", help="Configuration of the dataset.")
@click.option("--split", default="train", show_default=True, help="Split of the dataset.")
@click.option(
    "--column", default="text", show_default=True, help="Column of the dataset that holds the text."
)
@click.option("--stdlib", is_flag=True, help="Read the sources of Python's standard library.")
@click.option(
    "--mixture",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Read several sources: a TOML file that names them and their shares of the text.",
)
@click.option(
    "--tokenizer",
    default="bytes",
    show_default=True,
    help="bytes, or a Hugging Face tokenizer (file, folder or name).",
)
@click.option(
    "--separator", help="Token between documents, if the tokenizer has none with a usual name."
)
@click.option(
    "--sequence",
    default=1024,
    show_default=True,
    type=click.IntRange(2, 1 << 20),
    help="Tokens of a sample.",
)
@click.option(
    "--held-out",
    default=100,
    show_default=True,
    type=click.IntRange(0, 5_000),
    help="Share of documents held out from training, in 1/10,000.",
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    help="Seed of the order and of the held-out share.",
)
@click.option(
    "--shard-mib",
    default=64,
    show_default=True,
    type=click.IntRange(1, 1_024),
    help="Size of a shard, in MiB.",
)
def build(  # noqa: PLR0913, PLR0917 - one parameter an option
    out: Path,
    folder: Path | None,
    pattern: str,
    dataset: str | None,
    config: str | None,
    split: str,
    column: str,
    stdlib: bool,  # noqa: FBT001 - click passes by name
    mixture: Path | None,
    tokenizer: str,
    separator: str | None,
    sequence: int,
    held_out: int,
    seed: int,
    shard_mib: int,
) -> None:
    """Build token shards from documents in the folder OUT, with a manifest that lists them.

    The same documents and options give the same bytes on every machine.
    """
    from rich.progress import Progress

    from tequio_client.dataset import sources
    from tequio_client.dataset.build import MANIFEST_NAME, ShardOptions, build_shards
    from tequio_client.dataset.mixture import read_mixture
    from tequio_shared.ids import to_text

    if [folder is not None, dataset is not None, stdlib, mixture is not None].count(True) != 1:
        raise click.UsageError("choose exactly one of --folder, --dataset, --stdlib and --mixture")
    settings = ShardOptions(
        sequence=sequence, seed=seed, held_out_bp=held_out, shard_bytes=shard_mib * _MIB
    )
    try:
        if folder is not None:
            source: sources.TextSource = sources.folder_files(folder, pattern)
        elif dataset is not None:
            source = sources.load_dataset(dataset, config=config, split=split, column=column)
        elif mixture is not None:
            source = read_mixture(mixture)
        else:
            source = sources.standard_library_files()
        loaded = sources.load_tokenizer(tokenizer, separator)
        with Progress(transient=True) as bar:
            stages = {name: bar.add_task(name, total=None) for name in ("reading", "writing")}

            def report(stage: str, done: int, total: int) -> None:
                bar.update(stages[stage], completed=done, total=total)

            corpus = build_shards(source, loaded, settings, out, report)
    except UserFacingError as err:
        raise click.ClickException(str(err)) from err
    except OSError as err:
        where = err.filename or out
        raise click.ClickException(f"cannot use {where} ({err.strerror})") from err
    click.echo(f"source:   {corpus.source}")
    click.echo(f"train:    {corpus.samples} samples in {len(corpus.train)} shards")
    click.echo(f"held out: {sum(one.documents for one in corpus.held_out)} documents")
    click.echo(f"root:     {to_text(corpus.root)}")
    click.echo(f"manifest: {out / MANIFEST_NAME}")
