"""`tequio competition`: what organisers do about a competition's held-out set."""

from __future__ import annotations

from pathlib import Path

import click

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)
_CUSTODIANS = click.IntRange(1, 16)


@click.group()
def competition() -> None:
    """Seal texts that nobody can have seen, and open them when time has come."""


@competition.command()
@click.argument("data")
@click.option("--to", required=True, type=_FOLDER, help="New folder for all that is made.")
@click.option(
    "--custodians",
    type=_CUSTODIANS,
    default=3,
    show_default=True,
    help="How many people get a share of the key.",
)
@click.option(
    "--needed",
    type=_CUSTODIANS,
    help="How many of them open the set together; default: 2, or 1 if there is one.",
)
@click.option("--pattern", default="*", show_default=True, help="Which files of a folder.")
@click.option("--config", help="Configuration of a dataset.")
@click.option("--split", default="train", show_default=True, help="Split of a dataset.")
@click.option("--column", default="text", show_default=True, help="Column with the text.")
def seal(  # noqa: PLR0913, PLR0917 - one parameter an option
    data: str,
    to: Path,
    custodians: int,
    needed: int | None,
    pattern: str,
    config: str | None,
    split: str,
    column: str,
) -> None:
    """Seal the documents in DATA: a folder, a file of JSON lines, or a Hugging Face dataset.

    Makes an encrypted archive to publish, a commitment to log, and a file for each custodian.
    """
    from tequio_client.dataset import sources
    from tequio_client.organiser import sealing

    together = min(2, custodians) if needed is None else needed
    if together > custodians:
        raise click.UsageError(f"--needed {together} is more than --custodians {custodians}")
    reading = sources.Reading(pattern=pattern, config=config, split=split, column=column)
    sealed = sealing.seal(sources.found(data, reading), to, needed=together, shares=custodians)
    click.echo(f"sealed {sealed.documents:,} documents, {sealed.size_bytes:,} bytes, in {to}")
    click.echo(f"root {sealed.root}")
    click.echo(f"publish {sealing.ARCHIVE} and {sealing.COMMITMENT}")
    click.echo(_who_opens(together, custodians))


def _who_opens(needed: int, custodians: int) -> str:
    if custodians == 1:
        return (
            "share-1-of-1.txt alone opens the set: whoever holds it can read it before the "
            "deadline, and without it nobody ever will; say so to those who enter"
        )
    return (
        f"give each share-*.txt to one custodian and delete it here; {needed} of {custodians} open "
        f"the set, and it is lost if {custodians - needed + 1} are"
    )


@competition.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--share", "shares", multiple=True, required=True, type=_FILE, help="A share; repeat."
)
@click.option("--to", required=True, type=_FOLDER, help="New folder for documents and salts.")
def unseal(folder: Path, shares: tuple[Path, ...], to: Path) -> None:
    """Open the set whose archive and commitment lie in FOLDER, and check each document."""
    from tequio_client.organiser import sealing, unsealing

    archive, commitment = folder / sealing.ARCHIVE, folder / sealing.COMMITMENT
    sealed = unsealing.open_sealed(archive, commitment, shares, to)
    click.echo(f"all {sealed.documents:,} documents are those of root {sealed.root}; see {to}")
