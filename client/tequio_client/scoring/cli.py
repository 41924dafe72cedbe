"""`tequio score`: measures how many bits a model needs for a byte of text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tequio_client import cli


@click.command()
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option(
    "--on",
    "data",
    metavar="DATA",
    help="A text file, a file of JSON lines, a folder, or a Hugging Face dataset.",
)
@click.option(
    "--task",
    "tasks",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file of multiple-choice questions, from `tequio data tasks`; may be repeated.",
)
@cli.texts_options
@click.option(
    "--documents", type=click.IntRange(1), help="Score only the first N documents.", metavar="N"
)
@click.option("--revision", help="Branch, tag or commit of the models on the Hub.")
@click.option(
    "--tokenizer", help="Replace the model's own tokenizer: a tokenizer.json, its folder, or bytes."
)
@click.option("--prefix", metavar="TOKEN", help="Token before each text, if the model names none.")
@click.option(
    "--window",
    type=click.IntRange(1, 1 << 20),
    help="Tokens that the model sees at once; default: its context, at most 2048.",
)
@click.option(
    "--stride",
    type=click.IntRange(1, 1 << 20),
    help="Tokens that each later window scores; default: half the window.",
)
@cli.device_option
@cli.threads_option
@click.option(
    "--batch-tokens",
    type=click.IntRange(1, 1 << 24),
    default=4096,
    show_default=True,
    help="Tokens that are computed at once, as memory allows; does not affect the scores.",
)
@click.option(
    "--beacon",
    metavar="TEXT",
    help="Seed of the comparison of several models, 32 bytes as base64url; default: zeros.",
)
@click.option("--each", "prints_documents", is_flag=True, help="Print a table of every document.")
@click.option(
    "--json", "json_file", type=cli.OutputFile(), help="Write all results to this file as JSON."
)
def score(
    *,
    pattern: str,
    config: str | None,
    split: str,
    column: str,
    beacon: str | None,
    json_file: Path | None,
    **options: Any,  # noqa: ANN401 - fields of ScoreOptions, by their names
) -> None:
    """Score models as competitions do: each MODEL is a folder or a name on the Hub.

    Only Safetensors files are read, and no code of a model's author is run. Several models are
    ranked, by a bootstrap over the documents of --on. Without --on, only the questions of --task
    are asked.
    """
    from tequio_client.dataset.rows import ReadOptions
    from tequio_client.scoring import command

    reading = ReadOptions(pattern=pattern, config=config, split=split, column=column)
    found = command.run(command.ScoreOptions(reading=reading, beacon=_beacon(beacon), **options))
    if json_file is not None:
        cli.write_output(json_file, found.encode())


def _beacon(text: str | None) -> bytes:
    from tequio_shared.errors import MalformedError
    from tequio_shared.ids import digest_from_text

    try:
        return digest_from_text(text) if text else bytes(32)
    except MalformedError as err:
        raise click.BadParameter(f"{err}; expected 43 characters", param_hint="--beacon") from err
