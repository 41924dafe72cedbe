"""`tequio data`: builds the token shards of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client.cli import PlainGroup
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.dataset.sources import ReadOptions, TextSource

_MIB = 1 << 20


@click.group(cls=PlainGroup)
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
    "--column", default="", help="Column of the dataset that holds the text.  [default: text]"
)
@click.option(
    "--chat",
    is_flag=True,
    help="Read conversations, and train only on what the assistant says. They are in the column "
    "`messages`, or in `prompt` and `completion`; for others, name one or two with --column.",
)
@click.option(
    "--chat-template",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Render conversations with the template in this file, not with the tokenizer's own.",
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
    chat: bool,  # noqa: FBT001 - click passes by name
    chat_template: Path | None,
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

    from tequio_client.dataset import chat as conversations
    from tequio_client.dataset import sources
    from tequio_client.dataset.build import MANIFEST_NAME, ShardOptions, build_shards
    from tequio_shared.ids import to_text

    if chat_template and not chat:
        raise click.UsageError("--chat-template needs --chat")
    settings = ShardOptions(
        sequence=sequence, seed=seed, held_out_bp=held_out, shard_bytes=shard_mib * _MIB
    )
    place = _SourcePlace(folder=folder, dataset=dataset, stdlib=stdlib, mixture=mixture)
    reading = sources.ReadOptions(pattern=pattern, config=config, split=split, column=column)
    try:
        source = place.open(reading, is_chat=chat)
        loaded = sources.load_tokenizer(tokenizer, separator)
        encoder = None
        if chat:
            encoder = conversations.open_encoder(loaded, tokenizer, chat_template, sequence)
        with Progress(transient=True) as bar:
            stages = {name: bar.add_task(name, total=None) for name in ("reading", "writing")}

            def report(stage: str, done: int, total: int) -> None:
                bar.update(stages[stage], completed=done, total=total)

            corpus = build_shards(source, loaded, settings, out, report, chat=encoder)
    except UserFacingError as err:
        raise click.ClickException(str(err)) from err
    except OSError as err:
        where = err.filename or out
        raise click.ClickException(f"cannot use {where} ({err.strerror})") from err
    click.echo(f"source:   {corpus.source}")
    click.echo(f"train:    {corpus.samples} samples in {len(corpus.train)} shards")
    click.echo(f"held out: {sum(one.documents for one in corpus.held_out)} documents")
    if encoder is not None:
        click.echo(f"turns end: {encoder.tokenizer.decode([encoder.chat.turn_end])}")
        click.echo(
            f"cut:      {encoder.cut} (conversations longer than a sample of {sequence} tokens)"
        )
        click.echo(
            f"left out: {encoder.left_out} (conversations in which the assistant says nothing)"
        )
    click.echo(f"root:     {to_text(corpus.root)}")
    click.echo(f"manifest: {out / MANIFEST_NAME}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _SourcePlace:
    """Where documents are: exactly one of these."""

    folder: Path | None
    dataset: str | None
    stdlib: bool
    mixture: Path | None

    def open(self, reading: ReadOptions, *, is_chat: bool) -> TextSource:
        """Open the source; raises UserFacingError, and UsageError for other than one."""
        from tequio_client.dataset import chat, sources
        from tequio_client.dataset.mixture import read_mixture

        given = (self.folder, self.dataset, self.stdlib or None, self.mixture)
        if sum(one is not None for one in given) != 1:
            raise click.UsageError(
                "choose exactly one of --folder, --dataset, --stdlib and --mixture"
            )
        if self.mixture is not None:
            return read_mixture(self.mixture, is_chat=is_chat)
        if self.dataset is not None:
            load = chat.load_conversations if is_chat else sources.load_dataset
            return load(
                self.dataset, config=reading.config, split=reading.split, column=reading.column
            )
        if is_chat:
            raise click.UsageError(
                "--chat reads a dataset: give --dataset a name, or a folder of .jsonl files"
            )
        if self.folder is not None:
            return sources.folder_files(self.folder, reading.pattern)
        return sources.standard_library_files()
