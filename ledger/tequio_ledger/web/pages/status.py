"""GET /status: whether the ledger is well, how far its log reaches, and who signs it."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.log.log import Published
from tequio_ledger.service import Ledger
from tequio_ledger.store import entry_rows
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import press, words
from tequio_ledger.web.pages.note_line import NoteLine, note_lines
from tequio_ledger.web.pages.run_now import RunNow, run_now
from tequio_ledger.web.pages.words import Mark
from tequio_ledger.web.routing import get
from tequio_shared.ids import to_text
from tequio_shared.policy import NONE

CHECKPOINTS = 10

HEALTH = {
    "ok": Mark("All is well", "ok", "Statements are taken, logged, signed and served."),
    "read-only": Mark("Read-only", "danger", "What is published is served; nothing is taken."),
    "no-quorum": Mark(
        "Waits for its witnesses", "warn", "Statements are taken; they are shown when cosigned."
    ),
    "restored": Mark(
        "Restored from a backup",
        "danger",
        "Somebody may hold more of the log than it: nothing is signed before that is known.",
    ),
    "lost": Mark(
        "Part of the log is lost",
        "danger",
        "Somebody holds a signed checkpoint that goes beyond this log: nothing is signed any more.",
    ),
    "moved": Mark("Moved", "off", "The log goes on in another database; this one only shows it."),
    "unfinished": Mark(
        "Being moved here", "busy", "Not all of the log is here yet: nothing is signed before."
    ),
    "clock": Mark("Clock is behind", "warn", "The coordinator waits until time has caught up."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointLine:
    """One signed size of the log."""

    size: int
    root: str
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCount:
    """How many entries of a type there are."""

    type: str
    says: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessLine:
    """A witness that the log's policy names, as the ledger last found it."""

    name: str
    url: str
    size: int
    answer_ms: int | None
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusPage:
    """The ledger's own state."""

    mark: Mark
    detail: str
    checkpoints: tuple[CheckpointLine, ...]
    age_ms: int
    lines: tuple[NoteLine, ...]
    note: str
    """The newest one that is published."""
    quorum: str
    witnesses: tuple[WitnessLine, ...]
    runs: tuple[RunNow, ...]
    types: tuple[TypeCount, ...]
    network_id: str
    log_key: str
    coordinator: str
    organisers: tuple[str, ...]
    threshold: int


@get("/status")
async def get_status(request: Request, ledger: Ledger) -> Response:
    """Show how the ledger is."""
    await ledger.sequencer.settled()
    runs = tuple(run_now(ledger.state, run) for run in ledger.state.runs)
    types = ledger.state.types.most_common()
    return await press.in_turn(request, _printed, request, ledger, runs, types)


def _printed(
    request: Request, ledger: Ledger, runs: tuple[RunNow, ...], types: list[tuple[str, int]]
) -> Response:
    view, published = _view(ledger, runs, types)
    return press.page(request, "status.html", press.frame(request, ledger, published), view)


def _view(
    ledger: Ledger, runs: tuple[RunNow, ...], types: list[tuple[str, int]]
) -> tuple[StatusPage, Published]:
    health, genesis = ledger.health(), ledger.genesis
    with snapshot(ledger.database) as (connection, published):
        signed = entry_rows.checkpoints(connection, CHECKPOINTS)
    fallback = Mark(health.status, "danger", "The ledger signs nothing until somebody looks.")
    view = StatusPage(
        mark=HEALTH.get(health.status, fallback),
        detail=health.detail or "",
        checkpoints=tuple(
            CheckpointLine(size=size, root=to_text(root), at_ms=at_ms)
            for size, root, at_ms in signed
        ),
        age_ms=max(ledger.clock() - signed[0][2], 0) if signed else 0,
        lines=note_lines(ledger.published.note, ledger.policy),
        note=ledger.published.note.decode(),
        quorum=ledger.policy.quorum if ledger.policy else NONE,
        witnesses=_witnesses(ledger),
        runs=runs,
        types=tuple(
            TypeCount(type=name, says=words.TYPES.get(name, ""), count=count)
            for name, count in types
        ),
        network_id=to_text(genesis.network_id),
        log_key=genesis.log_key,
        coordinator=genesis.coordinator,
        organisers=genesis.organisers,
        threshold=genesis.threshold,
    )
    return view, published


def _witnesses(ledger: Ledger) -> tuple[WitnessLine, ...]:
    if ledger.publisher is None:
        return ()
    return tuple(
        WitnessLine(
            name=one.name,
            url=one.url,
            size=one.size,
            answer_ms=None if one.answer_s is None else int(one.answer_s * 1_000),
            problem=one.problem or "",
        )
        for one in ledger.publisher.publication().witnesses
    )
