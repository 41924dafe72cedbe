"""What a competition came to, computed from the log as every stranger does, and said in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from tequio_client.competition import said
from tequio_client.names import short
from tequio_client.verify.judgement import contenders
from tequio_shared import judging
from tequio_shared.errors import UserFacingError
from tequio_shared.judging import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console

    from tequio_shared.competition import CompetitionView
    from tequio_shared.evaluations import Outcome
    from tequio_shared.ids import Digest


def computed(
    view: CompetitionView, texts: Sequence[bytes], blob: Callable[[Digest], bytes | None]
) -> Outcome:
    """Judge by what the log has; raises UserFacingError when an evaluation cannot be had."""
    if view.draw is None:
        raise UserFacingError(f"{view.rules.name} has no ranking: {view.lacks()}")
    named = [Text.of(one) for one in texts]
    return judging.outcome(view.id, view.draw.beacon, named, contenders(view, blob))


def show(view: CompetitionView, outcome: Outcome, console: Console) -> None:
    """Print the ranking, what the evaluators differ in, and what nothing tells apart."""
    table = Table(
        "rank", "entrant", title=f"{view.rules.name}: bits per byte, the fewer the better"
    )
    for column in ("bits/byte", "95 %", "evaluators"):
        table.add_column(column, justify="right")
    for one in outcome.places:
        table.add_row(
            str(one.rank) if one.rank else "-",
            escape(one.entrant),
            said.bits(one.nanobits_per_byte) if one.rank else "too few evaluators",
            f"{said.bits(one.low)} to {said.bits(one.high)}" if one.rank else "",
            str(len(one.evaluators)),
        )
    console.print(table)
    for pair in outcome.pairs:
        apart = f"{said.bits(pair.low)} to {said.bits(pair.high)} bits per byte"
        verdict = f"{pair.winner} is better" if pair.winner else "nothing tells them apart"
        console.print(f"{pair.first} less {pair.other}: {apart}, {verdict}", highlight=False)
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
                    f"{place.entrant}, in {one.outside:,} documents: the medians pass over that"
                )
