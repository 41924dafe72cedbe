"""`tequio verify-competition` as a person sees it: what held, what did not, and the ranks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import SystemRandom
from typing import TYPE_CHECKING

import msgspec
from rich.console import Console

from tequio_client.audit.command import Bars
from tequio_client.audit.findings import Grade
from tequio_client.competition import outcome
from tequio_client.competition.log_reader import called
from tequio_client.verifying import main, words
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tequio_client.audit.main import Progress
    from tequio_client.verifying.main import Verified

_STYLES = {Grade.MISMATCH: "bold red", Grade.MISSING: "yellow"}
_VERDICTS = {
    0: "All of it is sound.",
    Grade.MISMATCH.value: "This competition does not hold: see above.",
    Grade.MISSING.value: "What could be had is sound, but not everything could be had.",
}
_ENDED = "What is in the log is sound; it ended without a ranking, and there is no result to check."


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescoring:
    """How many documents of each entrant are scored again, on what, and where models are."""

    documents: int
    models: Mapping[str, Path]
    stores: Sequence[Path]
    device: str
    threads: int | None


def run(wish: main.Wish, rescoring: Rescoring | None, console: Console | None = None) -> Verified:
    """Verify, and show what was found; raises UserFacingError when a bundle cannot be written."""
    shown = console or Console()
    with Bars(shown) as bars:
        then = partial(_rescore, wish, rescoring, bars) if rescoring else None
        found = main.run(wish, bars, then)
    _show(wish, found, shown)
    return found


def encode(found: Verified) -> bytes:
    """All of it as JSON for machines."""
    report = msgspec.json.decode(found.report.encode())
    whole = {
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
    return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"


def _rescore(
    wish: main.Wish, rescoring: Rescoring, progress: Progress, found: Verified, folder: Path
) -> None:
    """Score again; torch is loaded only now."""
    from tequio_client.competition.submission import Origin  # noqa: PLC0415 - as below
    from tequio_client.trainer import device  # noqa: PLC0415 - takes seconds to load
    from tequio_client.verifying import rescoring as program  # noqa: PLC0415 - as above
    from tequio_client.verifying.models import Models  # noqa: PLC0415 - as above

    if found.judged is None:
        return
    origin = Origin(ledger=wish.place, stores=rescoring.stores, trust=wish.trust)
    models = Models(
        given=rescoring.models,
        origin=origin if wish.is_live else None,
        folder=folder,
        progress=progress,
    )
    chosen = device.choose(rescoring.device)
    if rescoring.threads:
        device.limit_threads(rescoring.threads)
    means = program.Means(
        model_of=models.model,
        device=chosen,
        folder=folder,
        chance=SystemRandom(),
        progress=progress,
    )
    before = len(found.report.findings)
    found.deviations += program.rescore(found.judged, rescoring.documents, means, found.report)
    number = found.report.checked["documents scored again"]
    if number and len(found.report.findings) == before:
        found.lines.append(words.of_rescoring(number, chosen.name))


def _show(wish: main.Wish, found: Verified, shown: Console) -> None:
    if found.view:
        shown.print(called(found.view), style="bold", markup=False, highlight=False)
    for line in found.lines:
        shown.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    for line in found.deviations:
        shown.print(f"  {line}", style="yellow", markup=False, highlight=False, soft_wrap=True)
    for finding in found.report.findings:
        style = _STYLES[finding.grade]
        shown.print(finding.line(), style=style, markup=False, highlight=False, soft_wrap=True)
    if found.judged:
        if found.report.exit_code == Grade.MISMATCH.value:
            shown.print("This is what the log comes to, whatever was said of it:")
        outcome.show(found.judged.view, found.judged.outcome, shown)
    if wish.bundle and found.view:
        shown.print(f"all that was read is in {wish.bundle}", markup=False, highlight=False)
    has_ended = found.void and found.report.exit_code == Grade.MISSING.value
    shown.print(_ENDED if has_ended else _VERDICTS[found.report.exit_code])
