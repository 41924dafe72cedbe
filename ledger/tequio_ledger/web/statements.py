"""POST /v1/statements: a bundle of signed entries in, one answer for each out."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field

from litestar import post

from tequio_ledger import metrics
from tequio_ledger.sequencing import admission
from tequio_ledger.sequencing.sequencer import Known, Logged, Outcome, Refused
from tequio_ledger.state import State
from tequio_ledger.web.bodies import read_body
from tequio_ledger.web.doors import REGISTRATION, Doors, GivenDoors, network_of
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.problems import AnyRequest, code_of
from tequio_shared.api.log import PostedAnswer, PostedStatement
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.evidence import count_signatures
from tequio_shared.ids import PeerKey, sha256, to_text
from tequio_shared.limits import POST_BYTES, POST_STATEMENTS
from tequio_shared.statement import Entry, statement_id
from tequio_shared.statements.members import KeyRegister
from tequio_shared.statements.standing import FaultReport
from tequio_shared.tlog import parse_bundle


@post("/v1/statements", status_code=200)
async def post_statements(
    request: AnyRequest, ledger: GivenLedger, doors: GivenDoors
) -> PostedAnswer:
    """Log a bundle of entries; answers when they are on the disk under a signed checkpoint."""
    begun, network = time.perf_counter(), network_of(request)
    leaves = _leaves(await read_body(request, POST_BYTES))
    doors.let_in(network, len(leaves))
    check = _Check(ledger.state, ledger.clock(), doors, network)
    checked = await asyncio.to_thread(lambda: [check.judge(leaf) for leaf in leaves])
    sound = [entry for entry in checked if isinstance(entry, Entry)]
    outcomes = iter(await ledger.sequencer.submit(sound) if sound else ())
    items = [_item(next(outcomes) if isinstance(e, Entry) else e) for e in checked]
    _count(items, time.perf_counter() - begun)
    return PostedAnswer(items)


def _count(items: list[PostedStatement], seconds: float) -> None:
    became = Counter((item.status, item.code or "") for item in items)
    for (outcome, code), number in became.items():
        metrics.STATEMENTS.labels(outcome=outcome, code=code).inc(number)
    if any(item.index is not None for item in items):
        metrics.RECEIPT_S.observe(seconds)


def _leaves(raw: bytes) -> list[bytes]:
    try:
        leaves = parse_bundle(raw, POST_STATEMENTS)
    except MalformedError as err:
        raise RefusedError("malformed", str(err)) from err
    if not leaves:
        raise RefusedError("malformed", "an empty bundle")
    return leaves


@dataclass(slots=True)
class _Check:
    """Parses, screens and verifies, cheap things first; runs in a thread, only reads the state."""

    state: State
    now_ms: int
    doors: Doors
    network: str
    newcomers: set[PeerKey] = field(default_factory=set)  # registered earlier in this bundle

    def judge(self, leaf: bytes) -> Entry | Refused:
        """Give the entry of a leaf if it is sound, or what is wrong with it."""
        name = sha256(leaf)
        try:
            entry = Entry.parse(leaf)
            name = statement_id(self.state.net, entry.statement.raw)
            self._verify(entry)
        except (PeerError, RefusedError) as err:
            return Refused(id=name, code=code_of(err), detail=str(err))
        return entry

    def _verify(self, entry: Entry) -> None:
        author, body = entry.statement.author, entry.statement.body
        is_new = isinstance(body, KeyRegister)
        admission.screen(entry, self.state, self.now_ms, self.newcomers)
        more = (REGISTRATION if is_new else 1) * len(entry.signatures) - 1  # one is paid already
        more += count_signatures(body) if isinstance(body, FaultReport) else 0
        self.doors.let_in(self.network, more)
        entry.verify(self.state.net)
        self.doors.let_speak(author)
        if is_new:
            self.newcomers.add(author)


def _item(outcome: Outcome) -> PostedStatement:
    match outcome:
        case Logged(id=name, index=index):
            return PostedStatement(id=to_text(name), status="logged", index=index)
        case Known(id=name, index=index):
            return PostedStatement(id=to_text(name), status="known", index=index)
        case Refused(id=name, code=code, detail=detail):
            return PostedStatement(id=to_text(name), status="refused", code=code, detail=detail)
