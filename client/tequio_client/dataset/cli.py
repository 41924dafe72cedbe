"""`tequio data`: learns a tokenizer, builds the token shards of a run, and files of questions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from tequio_client import files
from tequio_client.cli import OutputFile, PlainGroup
from tequio_shared.errors import UserFacingError
from tequio_shared.wording import plural

if TYPE_CHECKING:
    from contextlib import AbstractContextManager, ExitStack

    from tequio_client.dataset.census import Census
    from tequio_client.dataset.encode import TextEncoder
    from tequio_client.dataset.mixture import Mixture
    from tequio_client.dataset.sources import TextSource

_MIB = 1 << 20
_MOST_HELD_OUT = 5_000  # in 1/10,000 of the documents
_FEW_HELD_OUT = 10
_Command = TypeVar("_Command", bound=Callable[..., Any])
_SOURCE_OPTIONS = (
    click.option(
        "--folder", type=click.Path(path_type=Path), help="Read the text files in this folder."
    ),
    click.option(
        "--pattern", default="*", show_default=True, help="Which files of --folder to read."
    ),
    click.option(
        "--dataset",
        help="Read a dataset: a name on the Hugging Face Hub, a folder, a file, or an address such "
        "as s3://bucket/*.parquet.",
    ),
    click.option("--config", help="Configuration of the dataset."),
    click.option("--split", default="train", show_default=True, help="Split of the dataset."),
    click.option(
        "--column", default="", help="Column of the dataset that holds the text.  [default: text]"
    ),
    click.option("--stdlib", is_flag=True, help="Read the sources of Python's standard library."),
    click.option(
        "--mixture",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Read several sources: a TOML file that names them and their shares of the text.",
    ),
)


def _reads_source(command: _Command) -> _Command:
    """Add the options that say where documents are; the command gets them as `place`."""

    def with_place(**given: Any) -> Any:  # noqa: ANN401 - click's values, passed on
        own = {one.name: given.pop(one.name) for one in fields(_SourcePlace)}
        return command(place=_SourcePlace(**own), **given)

    wrapped = functools.update_wrapper(with_place, command)
    for option in reversed(_SOURCE_OPTIONS):
        wrapped = option(wrapped)
    return cast("_Command", wrapped)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SourcePlace:
    """Where documents are: in exactly one of folder, dataset, library and mixture."""

    folder: Path | None
    pattern: str
    dataset: str | None
    config: str | None
    split: str
    column: str
    stdlib: bool
    mixture: Path | None

    def open(self, *, is_chat: bool = False) -> Mixture:
        """Open the source; raises UserFacingError, and UsageError for other than one."""
        from tequio_client.dataset import chat, rows, sources
        from tequio_client.dataset.mixture import Mixture, read_mixture

        given = (self.folder, self.dataset, self.stdlib or None, self.mixture)
        if sum(one is not None for one in given) != 1:
            raise click.UsageError(
                "choose exactly one of --folder, --dataset, --stdlib and --mixture"
            )
        if self.mixture is not None:
            return read_mixture(self.mixture, is_chat=is_chat)
        source: TextSource
        if self.dataset is not None:
            load = chat.open_conversations if is_chat else rows.open_texts
            source = load(self.dataset, config=self.config, split=self.split, column=self.column)
        elif is_chat:
            raise click.UsageError(
                "--chat reads a dataset: give --dataset a name, or a folder of .jsonl files"
            )
        elif self.folder is not None:
            source = sources.folder_files(self.folder, self.pattern).require_utf8()
        else:
            source = sources.standard_library_files()
        return Mixture(parts=(source,), shares=(1.0,))


@contextmanager
def _told_in_a_sentence(out: Path) -> Iterator[None]:
    """Let errors of sources, and of the disk that `out` is on, end the command."""
    try:
        yield
    except UserFacingError as err:
        raise click.ClickException(str(err)) from err
    except OSError as err:
        where = err.filename or out
        raise click.ClickException(f"cannot use {where} ({err.strerror})") from err


@click.group(cls=PlainGroup)
def data() -> None:
    """Prepare the training data of a run."""


@data.command()
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
@_reads_source
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
@click.option(
    "--tokenizer",
    default="bytes",
    show_default=True,
    help="bytes, or a tokenizer: a file of `data tokenizer`, a folder, or a name on the Hub.",
)
@click.option(
    "--plugin",
    type=click.Path(exists=True, path_type=Path),
    help="Encode with the tokenizer of this plug-in, a folder or an archive, instead.",
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
    type=click.IntRange(0, _MOST_HELD_OUT),
    help="Share of documents held out from training, in 1/10,000.",
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(0, 2**64 - 1),
    help="Seed of the order and of the held-out share.",
)
@click.option(
    "--shard-mib",
    default=64,
    show_default=True,
    type=click.IntRange(1, 1_024),
    help="Size of a shard, in MiB.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 1_024),
    help="Processes that encode.  [default: the processor cores, 64 at most]",
)
@click.option(
    "--restart", is_flag=True, help="Start over, even if OUT has a build that can be continued."
)
def build(  # noqa: PLR0913 - one parameter an option
    out: Path,
    *,
    place: _SourcePlace,
    chat: bool,
    chat_template: Path | None,
    tokenizer: str,
    plugin: Path | None,
    separator: str | None,
    sequence: int,
    held_out: int,
    seed: int,
    shard_mib: int,
    jobs: int | None,
    restart: bool,
) -> None:
    """Build token shards from documents in the folder OUT, with a manifest that lists them.

    The same documents and options give the same bytes on every machine, and with any number of
    --jobs. The same command continues a build that was interrupted.
    """
    from contextlib import ExitStack

    from tequio_client.dataset import chat as conversations
    from tequio_client.dataset import sources
    from tequio_client.dataset.build import (
        MANIFEST_NAME,
        BuildOptions,
        ShardOptions,
        build_shards,
    )
    from tequio_client.dataset.jobs import Jobs, default_jobs
    from tequio_client.dataset.progress import ProgressLine
    from tequio_shared.ids import to_text

    if chat_template and not chat:
        raise click.UsageError("--chat-template needs --chat")
    _check_alone(plugin, tokenizer, separator, is_chat=chat)
    settings = ShardOptions(
        sequence=sequence, seed=seed, held_out_bp=held_out, shard_bytes=shard_mib * _MIB
    )
    count = jobs or default_jobs()
    with _told_in_a_sentence(out), ExitStack() as stack:
        source = place.open(is_chat=chat)
        also: dict[str, str] = {}
        encoder, start = None, None
        if plugin:
            start, also = _plugin_encoders(plugin, stack)
            loaded = stack.enter_context(start()).tokenizer
        else:
            loaded = sources.load_tokenizer(tokenizer, separator)
        if chat:
            encoder = conversations.open_encoder(loaded, tokenizer, chat_template, sequence)
        line = stack.enter_context(ProgressLine(count))
        how = BuildOptions(
            jobs=Jobs(count=count, start=start), progress=line.report, restart=restart, also=also
        )
        corpus = build_shards(source, loaded, settings, out, how, chat=encoder)
    for sentence in source.missed(line.census.taken) if line.census else ():
        click.echo(sentence, err=True)
    click.echo(f"source:   {corpus.source}")
    if line.read:
        click.echo(f"read:     {line.read}")
    click.echo(
        f"train:    {plural(corpus.samples, 'sample')} in {plural(len(corpus.train), 'shard')}"
    )
    click.echo(f"held out: {sum(one.documents for one in corpus.held_out)} documents")
    if held_out and not corpus.held_out and line.census:
        _warn_of_no_measures(line.census)
    if encoder is not None and corpus.chat and line.census:
        click.echo(f"turns end: {encoder.tokenizer.decode([corpus.chat.turn_end])}")
        _print_shortened(line.census, sequence)
    click.echo(f"root:     {to_text(corpus.root)}")
    click.echo(f"manifest: {out / MANIFEST_NAME}")


def _warn_of_no_measures(census: Census) -> None:
    share = min(_FEW_HELD_OUT * 10_000 // census.documents + 1, _MOST_HELD_OUT)
    click.echo(
        f"none of {plural(census.documents, 'document')} was held out, so members cannot measure "
        "the heads of a run: build again with more documents, or with --restart "
        f"--held-out {share}",
        err=True,
    )


def _print_shortened(census: Census, sequence: int) -> None:
    """Print how many conversations are not whole in the shards, and why."""
    silent = census.left_out - census.spelled
    click.echo(f"cut:      {census.cut} (conversations longer than a sample of {sequence} tokens)")
    click.echo(
        f"left out: {silent} (conversations in which the assistant says nothing within a sample)"
    )
    click.echo(
        f"left out: {census.spelled} (conversations in which somebody writes a token that ends "
        "turns or documents)"
    )


def _check_alone(
    plugin: Path | None, tokenizer: str, separator: str | None, *, is_chat: bool
) -> None:
    """Raise UsageError for options that a plug-in's tokenizer takes the place of."""
    if plugin is None:
        return
    if is_chat:
        raise click.UsageError(
            "--chat cannot be combined with --plugin: a chat template needs a tokenizer.json"
        )
    if tokenizer != "bytes" or separator:
        raise click.UsageError("--plugin brings its own tokenizer and separator: give it alone")


def _plugin_encoders(
    plugin: Path, stack: ExitStack
) -> tuple[Callable[[], AbstractContextManager[TextEncoder]], dict[str, str]]:
    """Give what starts the tokenizer of a plug-in in any process, and the option with its hash.

    Its processes work in folders inside one that `stack` removes at the end.
    """
    from functools import partial
    from tempfile import TemporaryDirectory

    from tequio_client.dataset.own_tokenizer import run_encoder
    from tequio_client.plugins import archive
    from tequio_shared.ids import to_text

    found = archive.read(plugin)
    folder = stack.enter_context(TemporaryDirectory(prefix="tequio-plugin-"))
    return partial(run_encoder, found, Path(folder)), {"--plugin": to_text(found.digest)}


@data.command("tokenizer")
@click.argument("out", type=OutputFile())
@_reads_source
@click.option(
    "--vocabulary",
    default=32_768,
    show_default=True,
    type=click.IntRange(300, 1 << 20),
    help="Number of tokens; a small model learns better with fewer.",
)
@click.option(
    "--most-mib",
    default=512,
    show_default=True,
    type=click.IntRange(1, 1 << 16),
    help="Text to learn from, in MiB; if there is more, files are drawn, and of a dataset, the "
    "first rows are read.",
)
def learn_tokenizer(out: Path, *, place: _SourcePlace, vocabulary: int, most_mib: int) -> None:
    """Learn a tokenizer from documents, and write it to the file OUT.

    It can encode every text, and has the tokens that conversations need. The same documents and
    options give the same file.
    """
    from tequio_client.tokenizers import train_tokenizer

    with _told_in_a_sentence(out):
        learned = train_tokenizer(place.open().some_texts(most_mib * _MIB), vocabulary)
        with files.fresh_file(out) as part:
            part.write_bytes(learned.file)
    if learned.vocab_size < vocabulary:
        click.echo(f"the texts are too short for more tokens than {learned.vocab_size}", err=True)
    click.echo(f"tokens: {learned.vocab_size}")
    click.echo(f"file:   {out}")


@data.command("tasks")
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--lines",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Make the task of the questions in this file of JSON lines, with a name of your own.",
)
@click.option(
    "--shots",
    type=click.IntRange(0, 100),
    help="Examples before each question.  [default: as the task itself says]",
)
@click.option(
    "--questions",
    type=click.IntRange(1),
    help="Draw this many questions of each task.  [default: all]",
)
def build_tasks(
    out: Path,
    *,
    names: tuple[str, ...],
    lines: Path | None,
    shots: int | None,
    questions: int | None,
) -> None:
    """Write multiple-choice questions for `tequio score --task` to files in the folder OUT.

    Each NAME is a task, or a group of tasks, of lm-evaluation-harness, which writes the prompts and
    has to be installed. The same questions give the same file.
    """
    from tequio_client.dataset import tasks
    from tequio_shared.ids import sha256, to_text

    if lines and (len(names) > 1 or shots is not None):
        raise click.UsageError("--lines needs a single NAME, and has no --shots")
    with _told_in_a_sentence(out):
        out.mkdir(parents=True, exist_ok=True)
        for name in names:
            found = [tasks.read_lines(lines, name)] if lines else tasks.harness_tasks(name, shots)
            for task in found:
                drawn = task if questions is None else task.drawn(questions)
                raw = drawn.encode()
                path = out / f"{drawn.name}{tasks.SUFFIX}"
                path.write_bytes(raw)
                click.echo(
                    f"{drawn.name}: {plural(len(drawn.questions), 'question')}, "
                    f"chance {float(drawn.chance):.1%}, "
                    f"hash {to_text(sha256(raw))}, in {path}"
                )
