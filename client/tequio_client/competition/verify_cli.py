"""`tequio verify-competition`: check a competition from its log, without trusting the ledger."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING

import click

from tequio_client import cli

if TYPE_CHECKING:
    from rich.console import Console

    from tequio_client.verify.competition import CompetitionFindings, VerifyOptions
    from tequio_client.verify.report import WorkProgress


_GIVEN = re.compile(r"(?P<name>[a-z0-9][a-z0-9-]{0,31})=(?P<folder>.+)", re.DOTALL)


@click.command("verify-competition")
@click.argument("place", metavar="URL|BUNDLE")
@click.option(
    "--competition",
    "wanted",
    metavar="ID|NAME",
    default="",
    help="Which competition, if the log has several.",
)
@click.option(
    "--rescore",
    "documents",
    metavar="N",
    type=click.IntRange(1),
    help="Score N documents of each entrant again on this computer.",
)
@click.option(
    "--bundle",
    type=cli.OutputFile(),
    help="Write everything read to this file, for verification offline.",
)
@cli.trust_option
@click.option(
    "--json", "json_file", type=cli.OutputFile(), help="Write all findings to this file as JSON."
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="ENTRANT=FOLDER",
    help="Local model of an entrant: an export of its head, or the files that it submitted.",
)
@cli.stores_option
@cli.device_option
@cli.threads_option
def verify_competition(  # noqa: PLR0913 - one parameter an option
    *,
    place: str,
    wanted: str,
    documents: int | None,
    bundle: Path | None,
    trust_file: Path | None,
    json_file: Path | None,
    models: tuple[str, ...],
    stores: tuple[Path, ...],
    device: str,
    threads: int | None,
) -> None:
    """Check a competition from its log alone: online at URL, or offline from a BUNDLE.

    URL is the address of the ledger or of the competition's page. Signatures, order, draw, texts,
    medians, intervals and ranks are all computed again.

    Exit status: 0 everything holds, 2 something does not match (or the command line is wrong), 3
    something was unavailable or --json could not be written.
    """
    from rich.console import Console

    from tequio_client.ledger.networks import read_policy
    from tequio_client.verify import competition
    from tequio_client.verify.report import ProgressBars
    from tequio_shared.errors import UserFacingError

    cli.set_up_logs(log_json=False, log_level="warning")
    chosen = competition.VerifyOptions.of(place, wanted=wanted, bundle=bundle)
    try:
        trust = read_policy(trust_file, chosen.place if chosen.is_live else "")
    except UserFacingError as err:
        raise click.UsageError(str(err)) from err
    chosen = replace(chosen, trust=trust)
    if not chosen.is_live and not Path(place).is_file():
        raise click.UsageError(
            f"file {place} not found: give a bundle, or a ledger's address with http:// or https://"
        )
    rescoring = RescoringOptions(
        documents=documents or 0,
        models=_local_models(models),
        stores=stores,
        device=device,
        threads=threads,
    )
    try:
        with ProgressBars(Console(stderr=True)) as bars:
            then = partial(_rescore, chosen, rescoring, bars) if documents else None
            found = competition.verify(chosen, bars, then)
    except UserFacingError as err:  # an invalid address or device, or no room for a bundle
        raise click.UsageError(str(err)) from err
    _print(chosen, found, Console())
    cli.exit_checked(found.report.exit_code, json_file, _encode(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoringOptions:
    documents: int
    """To score again for each entrant."""
    models: Mapping[str, Path]
    """Folders by entrant."""
    stores: Sequence[Path]
    device: str
    threads: int | None


def _local_models(texts: tuple[str, ...]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for text in texts:
        match = _GIVEN.fullmatch(text)
        if match is None or not Path(match["folder"]).is_dir():
            raise click.UsageError(
                f"invalid --model {text}: expected ENTRANT=FOLDER with an existing folder"
            )
        found[match["name"]] = Path(match["folder"])
    return found


def _rescore(
    chosen: VerifyOptions,
    rescoring: RescoringOptions,
    progress: WorkProgress,
    found: CompetitionFindings,
    folder: Path,
) -> None:
    # torch, which takes seconds to import, is imported only now.
    from tequio_client.checkpoint.export import WeightsOrigin
    from tequio_client.competition import rescoring as program
    from tequio_client.trainer import device
    from tequio_client.verify import competition as verify_competition

    if found.judged is None:
        return
    origin = WeightsOrigin(ledger=chosen.place, stores=rescoring.stores, trust=chosen.trust)
    models = program.ModelSource(
        local=rescoring.models,
        origin=origin if chosen.is_live else None,
        folder=folder,
        progress=progress,
    )
    processor = device.open_device(rescoring.device)
    if rescoring.threads:
        device.limit_threads(rescoring.threads)
    context = program.RescoringContext(source=models, device=processor, rng=SystemRandom())
    before = len(found.report.findings)
    found.deviations += program.rescore(found.judged, rescoring.documents, context, found.report)
    number = found.report.checked["documents scored again"]
    if number and len(found.report.findings) == before:
        found.lines.append(verify_competition.describe_rescoring(number, processor.name))


def _print(chosen: VerifyOptions, found: CompetitionFindings, console: Console) -> None:
    from tequio_client.competition import listing
    from tequio_client.verify.reader import display_name
    from tequio_client.verify.report import AuditGrade

    exit_code = found.report.exit_code
    if found.view:
        console.print(display_name(found.view), style="bold", markup=False, highlight=False)
    for line in found.lines:
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    for line in found.deviations:
        console.print(f"  {line}", style="yellow", markup=False, highlight=False, soft_wrap=True)
    found.report.print_findings(console)
    if found.judged:
        if exit_code == AuditGrade.MISMATCH.value:
            console.print("The result as computed from the log:")
        listing.print_outcome(found.judged.view, found.judged.outcome, console)
    if chosen.bundle and found.view:
        console.print(f"bundle written to {chosen.bundle}", markup=False, highlight=False)
    if found.void and exit_code == AuditGrade.MISSING.value:
        console.print(
            "The log is valid; the competition ended without a ranking, so there is none to check."
        )
    else:
        console.print(found.report.verdict("competition"))


def _encode(found: CompetitionFindings) -> bytes:
    import msgspec

    from tequio_shared.ids import to_text

    report = msgspec.json.decode(found.report.encode())
    findings = {
        "competition": to_text(found.view.id) if found.view else None,
        "name": found.view.rules.name if found.view else None,
        "network": to_text(found.log.genesis.network_id) if found.log else None,
        "log_size": found.log.checkpoint.size if found.log else None,
        "held": found.lines,
        "deviations": found.deviations,
        "void": found.void,
        "outcome": found.judged.outcome if found.judged else None,
        **report,
    }
    return msgspec.json.format(msgspec.json.encode(findings), indent=2) + b"\n"
