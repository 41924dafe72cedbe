"""GET /runs/{run}/rounds/{number}: one round: who did what, what was judged, and why."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.log.log import Published
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import render, text
from tequio_ledger.web.pages.round_view import RoundStory, SlotStory, ToldRounds, slot_stories
from tequio_ledger.web.pages.run_charts import (
    BloomPicture,
    Timeline,
    VoteGrid,
    bloom_picture,
    timeline,
    vote_grid,
)
from tequio_ledger.web.pages.text import Mark
from tequio_ledger.web.routing import get
from tequio_shared.errors import RefusedError
from tequio_shared.ids import RunId, from_text, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.network.run import RunState
from tequio_shared.round import assignment
from tequio_shared.statements.runs import HeadAttest, HeadPromote


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A head that members stated when the round began, and how many did."""

    head: str
    members: int
    is_agreed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPage:
    """One round."""

    run: str
    name: str
    number: int
    last: int
    """Number of the run's last round."""
    mark: Mark
    story: RoundStory
    slots: tuple[SlotStory, ...]
    timeline: Timeline
    votes: VoteGrid
    blooms: tuple[BloomPicture, ...]
    stated: tuple[Stated, ...]
    made: str
    """The head that this round made, once it is canonical."""
    tokens: int
    windows: int
    micropoints: int
    accepted: int


@get("/runs/{run}/rounds/{number:int}")
async def get_round(
    request: Request,
    ledger: Ledger,
    told: ToldRounds,
    run: str,
    number: int,
) -> Response:
    """Show a round."""
    await ledger.sequencer.settled()
    run_id = RunId(from_text(run))
    now = ledger.state.run(run_id)
    if not 0 < number <= JSON_INTEGER:
        raise RefusedError("not-found", f"this run has no round {number}")
    known = (now.manifest.name, now.number, now.state)
    make = partial(_view, ledger, told, run_id, number, known)
    return await render.in_turn(request, _printed, request, ledger, make)


def _printed(
    request: Request, ledger: Ledger, make: Callable[[], tuple[RoundPage, Published]]
) -> Response:
    view, published = make()
    cache = render.SETTLED if view.story.is_complete else render.LIVE
    return render.page(request, "round.html", render.frame(request, ledger, published), view, cache)


def _view(
    ledger: Ledger, told: ToldRounds, run: RunId, number: int, known: tuple[str, int, RunState]
) -> tuple[RoundPage, Published]:
    with snapshot(ledger.database) as (connection, published):
        story = told.story(connection, run, number)
    name, last, state = known
    slots = slot_stories(story)
    accepted = [one for one in slots if one.verdict.tone == "ok" and story.result]
    view = RoundPage(
        run=to_text(run),
        name=name,
        number=number,
        last=last,
        mark=_mark(story, state),
        story=story,
        slots=slots,
        timeline=timeline(story, ledger.clock()),
        votes=vote_grid(story),
        blooms=tuple(bloom_picture(slot, one) for slot, one in sorted(story.proofs.items())),
        stated=_stated(story),
        made=_made(story),
        tokens=sum(one.tokens for one in accepted),
        windows=assignment.count_windows(story.roster.pool),
        micropoints=sum(one.micropoints for one in slots),
        accepted=len(accepted),
    )
    return view, published


def _mark(story: RoundStory, state: RunState) -> Mark:
    if story.void is not None:
        why = text.void(story.void.reason)
        return Mark(
            "Void",
            "warn",
            f"It counts for nothing, because {why}. The head stays, the windows go back in the "
            "queue, nobody is paid and nobody is blamed.",
        )
    if story.ended is not None:
        return Mark(
            "Closed", "ok", "A quorum of witnesses decided; the accepted work made the next head."
        )
    if story.opened is None and state in text.ENDING:
        return text.LAST_HEAD
    if story.witnessed is not None:
        return text.STATES[RunState.ROUND_WITNESS]
    return text.STATES[RunState.WARMUP if story.opened is None else RunState.ROUND_TRAIN]


def _stated(story: RoundStory) -> tuple[Stated, ...]:
    """Heads by how many state them; agreed is the one that the round opened with."""
    bodies = [one.body for one in story.attests.values()]
    counted = Counter(body.head for body in bodies if isinstance(body, HeadAttest))
    agreed = story.open.head if story.open else ""
    return tuple(
        Stated(head=head, members=members, is_agreed=head == agreed)
        for head, members in counted.most_common()
    )


def _made(story: RoundStory) -> str:
    body = story.promoted.body if story.promoted else None
    return body.head if isinstance(body, HeadPromote) else ""
