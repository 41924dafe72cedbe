"""GET /runs/{run}/rounds/{number}: one round, its contributions, verdicts and votes."""

from collections import Counter

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import render, text
from tequio_ledger.web.pages.round_view import RoundReader, RoundRecord, slot_outcomes
from tequio_ledger.web.pages.run_charts import bloom_picture, timeline, vote_grid
from tequio_ledger.web.pages.text import StatusLabel
from tequio_ledger.web.routing import get
from tequio_shared.errors import RefusedError
from tequio_shared.ids import RunId, from_text, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.network.run import RunState
from tequio_shared.round import assignment
from tequio_shared.statements.runs import HeadAttest, HeadPromote


@get("/runs/{run}/rounds/{number:int}")
async def get_round(
    request: Request, ledger: Ledger, reader: RoundReader, run: str, number: int
) -> Response:
    await ledger.sequencer.settled()
    run_id = RunId(from_text(run))
    now = ledger.state.run(run_id)
    if not 0 < number <= JSON_INTEGER:
        raise RefusedError("not-found", f"this run has no round {number}")
    name, last, state = now.manifest.name, now.number, now.state  # read on the event loop

    def make() -> Response:
        with snapshot(ledger.database) as (connection, published):
            story = reader.read(connection, run_id, number)
        slots = slot_outcomes(story)
        accepted = [one for one in slots if one.verdict.tone == "ok" and story.result]
        promoted = story.promoted.body if story.promoted else None
        return render.page(
            request,
            ledger,
            published,
            "round.html",
            cache=render.CACHE_SETTLED if story.is_complete else render.CACHE_LIVE,
            run=to_text(run_id),
            name=name,
            number=number,
            last=last,
            mark=_mark(story, state),
            story=story,
            slots=slots,
            timeline=timeline(story, ledger.clock()),
            votes=vote_grid(story),
            blooms=[bloom_picture(slot, one) for slot, one in sorted(story.proofs.items())],
            stated=_stated(story),
            made=promoted.head if isinstance(promoted, HeadPromote) else "",
            tokens=sum(one.tokens for one in accepted),
            windows=assignment.count_windows(story.roster.pool),
            micropoints=sum(one.micropoints for one in slots),
            accepted=len(accepted),
        )

    return await render.enqueue(request, make)


def _mark(story: RoundRecord, state: RunState) -> StatusLabel:
    if story.void is not None:
        why = text.void_reason(story.void.reason)
        return StatusLabel(
            "Void",
            "warn",
            f"The round does not count, because {why}. The head stays, the windows return to the "
            "queue, and nobody is paid or blamed.",
        )
    if story.ended is not None:
        return StatusLabel(
            "Closed", "ok", "A quorum of witnesses decided; the accepted work made the next head."
        )
    if story.opened is None and state in text.ENDING:
        return text.LAST_HEAD_LABEL
    if story.witnessed is not None:
        return text.STATES[RunState.ROUND_WITNESS]
    return text.STATES[RunState.WARMUP if story.opened is None else RunState.ROUND_TRAIN]


def _stated(story: RoundRecord) -> list[tuple[str, int, bool]]:
    """List each stated head with the number of its members and whether the round opened with it."""
    bodies = [one.body for one in story.attests.values()]
    counted = Counter(body.head for body in bodies if isinstance(body, HeadAttest))
    agreed = story.open.head if story.open else ""
    return [(head, members, head == agreed) for head, members in counted.most_common()]
