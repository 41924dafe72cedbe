"""The result of a competition: computed from the log, printed, and logged by the organisers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import trio
from rich.markup import escape
from rich.table import Table

from tequio_client.clock import now_ms
from tequio_client.competition import drawn_texts
from tequio_client.ledger.api import LedgerApi
from tequio_client.names import short_id
from tequio_client.organiser import signing
from tequio_client.verify.judgement import contenders
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.standing import format_time
from tequio_shared.competition import result
from tequio_shared.competition.result import DrawnText
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.statements.competitions import CompResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console

    from tequio_client.verify.folded_log import LedgerReader
    from tequio_shared.competition.competition import CompetitionView
    from tequio_shared.competition.rules import CompetitionOutcome, Dates
    from tequio_shared.ids import Digest

_GIGA = 10**9


def format_bits(nanobits: int) -> str:
    """Format nanobits per byte as bits per byte."""
    return f"{nanobits / _GIGA:.6f}"


def offer_state(*, is_drawn: bool, is_open: bool) -> str:
    """State of an offer to evaluate; `is_open`: its secret is revealed."""
    if is_drawn:
        return "drawn"
    return "secret revealed" if is_open else "offered"


def next_date(dates: Dates, now_ms: int) -> str:
    """Next date of a competition, with its name."""
    for name in dates.__struct_fields__:
        if getattr(dates, name) > now_ms:
            return f"{name} {format_time(getattr(dates, name))}"
    return "the result"


def compute_outcome(
    view: CompetitionView, texts: Sequence[bytes], blob: Callable[[Digest], bytes | None]
) -> CompetitionOutcome:
    """Compute the result from the log; raises UserFacingError if an evaluation is unavailable."""
    if view.draw is None:
        raise UserFacingError(f"{view.rules.name} has no ranking: {view.missing_for_ranking()}")
    named = [DrawnText.of(one) for one in texts]
    return result.compute_outcome(view.id, view.draw.beacon, named, contenders(view, blob))


def print_outcome(view: CompetitionView, outcome: CompetitionOutcome, console: Console) -> None:
    """Print the ranking, the pairwise differences, and the outliers."""
    table = Table("rank", "entrant", title=f"{view.rules.name}: bits per byte, fewer are better")
    for column in ("bits/byte", "95 %", "evaluators"):
        table.add_column(column, justify="right")
    for one in outcome.places:
        table.add_row(
            str(one.rank) if one.rank else "-",
            escape(one.entrant),
            format_bits(one.nanobits_per_byte) if one.rank else "too few evaluators",
            f"{format_bits(one.low)} to {format_bits(one.high)}" if one.rank else "",
            str(len(one.evaluators)),
        )
    console.print(table)
    for pair in outcome.pairs:
        apart = f"{format_bits(pair.low)} to {format_bits(pair.high)} bits per byte"
        verdict = f"{pair.winner} is better" if pair.winner else "no significant difference"
        console.print(f"{pair.first} minus {pair.other}: {apart}, {verdict}", highlight=False)
    for line in _outliers(outcome):
        console.print(line, style="yellow", highlight=False)
    console.print(f"{outcome.documents:,} documents were scored", highlight=False)


def _outliers(outcome: CompetitionOutcome) -> Iterator[str]:
    for place in outcome.places:
        for one in place.evaluators:
            if one.is_outlier:
                who, off = short_id(one.evaluator), one.off / 1_000
                yield (
                    f"evaluator {who} is off by {off:,.1f} bits for "
                    f"{place.entrant}, in {one.outside:,} documents: the medians ignore it"
                )


def compute_from_log(
    log: LedgerReader, wanted: str | None
) -> tuple[CompetitionView, CompetitionOutcome]:
    """Compute the present result from the log; raises UserFacingError if there is none yet."""
    view = log.wait_for(wanted)
    with TemporaryDirectory(prefix="tequio-outcome-") as folder:
        texts = drawn_texts.fetch_drawn_texts(view, Path(folder), log.blob, log.ledger)
        return view, compute_outcome(view, texts, log.blob)


def log_outcome(
    log: LedgerReader,
    view: CompetitionView,
    outcome: CompetitionOutcome,
    folders: Sequence[Path],
    out: Path | None,
) -> str:
    """Log the result as the organisers in the folders; returns a sentence about it."""
    if view.phase is CompetitionPhase.DECIDED:
        raise UserFacingError(f"{view.rules.name} is decided already")
    if now_ms() < view.rules.dates.result:
        raise UserFacingError(
            f"too early: scores of {view.rules.name} can be challenged until "
            f"{format_time(view.rules.dates.result)}"
        )
    with signing.locked_folders(folders), shutdown.explain_unreachable_ledger(log.ledger):
        return trio.run(partial(_decide, log.ledger, view, outcome, folders, out))


async def _decide(
    ledger: str,
    view: CompetitionView,
    outcome: CompetitionOutcome,
    folders: Sequence[Path],
    out: Path | None,
) -> str:
    async with LedgerApi(ledger) as api:
        signer = signing.load_organiser(folders[0], await api.network())
        name = await api.put_blob(outcome.encode(), signer, now_ms())
        body = CompResult(competition=to_text(view.id), outcome=to_text(name))
        return await signing.sign_decision(api, body, folders, out)
