"""GET /v1/runs/{run}/measures: how good heads are on held-out text, as JSON."""

from typing import Annotated

from litestar import get
from litestar.params import FromPath, QueryParameter

from tequio_ledger.store import measured
from tequio_ledger.web.answers import as_of
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.snapshot import snapshot
from tequio_shared import samples
from tequio_shared.api.runs import MeasureAnswer, MeasuredAnswer, MeasuresAnswer, SampleAnswer
from tequio_shared.ids import from_text, to_text
from tequio_shared.limits import JSON_INTEGER

Limit = Annotated[int, QueryParameter(ge=1, le=1000)]
After = Annotated[int, QueryParameter(ge=-1, le=JSON_INTEGER)]


@get("/v1/runs/{run:str}/measures", sync_to_thread=True)
def get_measures(
    ledger: GivenLedger, run: FromPath[str], after: After = -1, limit: Limit = 100
) -> MeasuresAnswer:
    """List heads that drawn members measured on held-out text, after the head of a round."""
    with snapshot(ledger.database) as (connection, published):
        heads = measured.after(connection, from_text(run), after, limit)
    last = heads[-1].round if len(heads) == limit else None
    return MeasuresAnswer([_answer(head) for head in heads], last, as_of(published))


def _answer(head: measured.MeasuredHead) -> MeasuredAnswer:
    return MeasuredAnswer(
        round=head.round,
        head=to_text(head.head),
        millibits=head.median.millibits,
        size_bytes=head.median.size_bytes,
        tokens=head.median.tokens,
        measures=[
            MeasureAnswer(
                entry=row.entry,
                peer=to_text(row.peer),
                millibits=row.said.millibits,
                size_bytes=row.said.size_bytes,
                tokens=row.said.tokens,
                is_outlier=row.is_outlier,
            )
            for row in head.rows
        ],
        sample=_sample(head.shown) if head.shown else None,
    )


def _sample(shown: measured.MeasuredRow) -> SampleAnswer | None:
    sample = samples.of(shown.said)
    if sample is None:
        return None
    return SampleAnswer(
        entry=shown.entry, peer=to_text(shown.peer), prompt=sample.prompt, text=sample.text
    )
