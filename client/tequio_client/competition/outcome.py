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
from tequio_client.competition import drawn_texts, plan
from tequio_client.ledger.api import LedgerApi
from tequio_client.names import short
from tequio_client.organiser import signing
from tequio_client.verify.judgement import contenders
from tequio_client.worker import shutdown
from tequio_shared.competition import result
from tequio_shared.competition.result import Text
from tequio_shared.competition.state import Phase
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.statements.competitions import CompResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console

    from tequio_client.verify.folded_log import LedgerReader
    from tequio_shared.competition.competition import CompetitionView
    from tequio_shared.competition.rules import Dates, Outcome
    from tequio_shared.ids import Digest

_GIGA = 10**9


def bits(nanobits: int) -> str:
    """Format nanobits per byte as bits per byte."""
    return f"{nanobits / _GIGA:.6f}"


def offer(*, is_drawn: bool, is_open: bool) -> str:
    """State of an offer to evaluate; `is_open`: its secret is revealed."""
    if is_drawn:
        return "drawn"
    return "secret revealed" if is_open else "offered"


def upcoming(dates: Dates, now_ms: int) -> str:
    """Next date of a competition, with its name."""
    for name in dates.__struct_fields__:
        if getattr(dates, name) > now_ms:
            return f"{name} {plan.told(getattr(dates, name))}"
    return "the result"


def computed(
    view: CompetitionView, texts: Sequence[bytes], blob: Callable[[Digest], bytes | None]
) -> Outcome:
    """Compute the result from the log; raises UserFacingError if an evaluation is unavailable."""
    if view.draw is None:
        raise UserFacingError(f"{view.rules.name} has no ranking: {view.lacks()}")
    named = [Text.of(one) for one in texts]
    return result.outcome(view.id, view.draw.beacon, named, contenders(view, blob))


def show(view: CompetitionView, outcome: Outcome, console: Console) -> None:
    """Print the ranking, the pairwise differences, and the outliers."""
    table = Table("rank", "entrant", title=f"{view.rules.name}: bits per byte, fewer are better")
    for column in ("bits/byte", "95 %", "evaluators"):
        table.add_column(column, justify="right")
    for one in outcome.places:
        table.add_row(
            str(one.rank) if one.rank else "-",
            escape(one.entrant),
            bits(one.nanobits_per_byte) if one.rank else "too few evaluators",
            f"{bits(one.low)} to {bits(one.high)}" if one.rank else "",
            str(len(one.evaluators)),
        )
    console.print(table)
    for pair in outcome.pairs:
        apart = f"{bits(pair.low)} to {bits(pair.high)} bits per byte"
        verdict = f"{pair.winner} is better" if pair.winner else "no significant difference"
        console.print(f"{pair.first} minus {pair.other}: {apart}, {verdict}", highlight=False)
    for line in _outliers(outcome):
        console.print(line, style="yellow", highlight=False)
    console.print(f"{outcome.documents:,} documents were scored", highlight=False)


def _outliers(outcome: Outcome) -> Iterator[str]:
    for place in outcome.places:
        for one in place.evaluators:
            if one.is_outlier:
                who, off = short(one.evaluator), one.off / 1_000
                yield (
                    f"evaluator {who} is off by {off:,.1f} bits for "
                    f"{place.entrant}, in {one.outside:,} documents: the medians ignore it"
                )


def decided_computed(log: LedgerReader, wanted: str | None) -> tuple[CompetitionView, Outcome]:
    """Compute the present result from the log; raises UserFacingError if there is none yet."""
    view = log.wait_for(wanted)
    with TemporaryDirectory(prefix="tequio-outcome-") as folder:
        texts = drawn_texts.drawn(view, Path(folder), log.blob, log.ledger)
        return view, computed(view, texts, log.blob)


def decide(
    log: LedgerReader,
    view: CompetitionView,
    outcome: Outcome,
    folders: Sequence[Path],
    out: Path | None,
) -> str:
    """Log the result as the organisers in the folders; returns a sentence about it."""
    if view.phase is Phase.DECIDED:
        raise UserFacingError(f"{view.rules.name} is decided already")
    if now_ms() < view.rules.dates.result:
        raise UserFacingError(
            f"too early: scores of {view.rules.name} can be challenged until "
            f"{plan.told(view.rules.dates.result)}"
        )
    with signing.held(folders), shutdown.reached(log.ledger):
        return trio.run(partial(_decide, log.ledger, view, outcome, folders, out))


async def _decide(
    ledger: str,
    view: CompetitionView,
    outcome: Outcome,
    folders: Sequence[Path],
    out: Path | None,
) -> str:
    async with LedgerApi(ledger) as api:
        signer = signing.of(folders[0], await api.network())
        name = await api.put_blob(outcome.encode(), signer, now_ms())
        body = CompResult(competition=to_text(view.id), outcome=to_text(name))
        return await signing.make(api, body, folders, out)
