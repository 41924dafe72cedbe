"""The ledger of a simulation: the real admission, state and coordinator over a log that is counted.

No sockets, no database, no signatures. What a service would write or send is added up: entries and
their bytes by type, and the requests and bytes of the log's readers.

Statements are admitted without a check of their signatures. This is the seam, and all of it:
`SimulatedKey` in place of `Signer`, and `unchecked_output` in place of `vrf.verify`. Outputs are
still fixed by key and input, so lots fall as they would.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tequio_shared import vrf
from tequio_shared.api.network import LogEvent
from tequio_shared.errors import RefusedError, TequioError
from tequio_shared.ids import ZERO_DIGEST, Digest, PeerKey, RunId, sha256, to_text
from tequio_shared.keys import SIGNATURE_BYTES, Signer, StatementSigner
from tequio_shared.limits import STATEMENT_LIFE_MS
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.genesis import Genesis
from tequio_shared.network.run import first_head
from tequio_shared.round.manifest import Manifest
from tequio_shared.served import admission
from tequio_shared.served.coordinator import Coordinator
from tequio_shared.served.state import State
from tequio_shared.statements.runs import NetGenesis, RoundClose, RoundRoster, RunOpen
from tequio_shared.statements.statement import Body, Entry, make, sign

CHECK_MS = 2_000
"""A reader asks for a checkpoint this long after an entry, as `FollowerLimits` has it."""
DOCUMENTS = 8
"""Documents of rounds that are kept; older ones are not read again."""
_DOMAIN = b"tequio/simulated-output\0"


class SimulatedKey:
    """The key of a simulated author; with a `Signer`, its signatures (but no lots) are real.

    Only an author whose statements prove a fault needs one: the report is verified.
    """

    def __init__(self, key: PeerKey, signer: Signer | None = None) -> None:
        self.key = key
        self._signer = signer

    def sign(self, message: bytes) -> bytes:
        return bytes(SIGNATURE_BYTES) if self._signer is None else self._signer.sign(message)

    def prove(self, alpha: bytes) -> bytes:
        """Bytes in place of a proof; `unchecked_output` does not read them."""
        return unchecked_output(self.key, alpha, b"").ljust(vrf.PROOF_BYTES, b"\0")


def unchecked_output(key: PeerKey, alpha: bytes, _proof: bytes) -> bytes:
    """Output of the key for the input, whatever the proof."""
    return hashlib.sha512(_DOMAIN + key + alpha).digest()


@dataclass(slots=True, kw_only=True)
class LedgerCost:
    """Size of the log, and what its readers fetch of the service."""

    entries: Counter[str] = field(default_factory=Counter)
    entry_bytes: int = 0
    document_bytes: int = 0
    posts: int = 0
    reads: int = 0
    """Requests for checkpoints and documents."""
    sent_bytes: int = 0
    """Events and documents, to all readers together."""


class SimulatedLedger:
    """A log that begins with the run; `readers` is set by the simulation."""

    def __init__(self, manifest: Manifest, now_ms: int) -> None:
        self.readers = 0
        """Peers that follow the log now."""
        self.cost = LedgerCost()
        self.refused: Counter[str] = Counter()
        self.errors: list[str] = []
        """Statements that the coordinator could not make: a bug."""
        self.size = 0
        self._documents = {Digest(manifest.run_id): manifest.encode()}
        self._checked_ms = 0
        key, organiser = (SimulatedKey(PeerKey(sha256(b"simulated", n))) for n in (b"c", b"o"))
        genesis = Genesis(
            name="simulated",
            origin="simulated",
            log_key="simulated",
            coordinator=to_text(key.key),
            organisers=(to_text(organiser.key),),
            threshold=1,
            rules=to_text(ZERO_DIGEST),
            work_bits=0,
        )
        self.net = genesis.network_id
        self.run = manifest.run_id
        self.state = State(genesis, self._documents.__getitem__, check_proof=unchecked_output)
        self._key = key
        self.restart()
        self._open(organiser, manifest, now_ms)

    @property
    def view(self) -> FullRunView:
        return self.state.runs[self.run]

    def restart(self) -> None:
        """Begin the coordinator again, as a service does after an outage: its timers are new."""
        self._coordinator = Coordinator(self._key, self.state, self._note_error)

    def due_ms(self) -> int | None:
        return self._coordinator.due()

    def submit(self, entry: Entry, now_ms: int) -> RefusedError | None:
        """Admit a statement as the log's next entry; returns the refusal, if it is refused."""
        self.cost.posts += 1
        try:
            admission.screen(entry, self.state, now_ms)
            admission.admit(self.size, entry, self.state, now_ms)
        except RefusedError as err:
            self.refused[err.code] += 1
            self._coordinator.fault_reporter.consider(entry, err.code, lambda _author, _seq: None)
            return err
        self._record(entry, now_ms)
        return None

    def coordinate(self, now_ms: int) -> Iterator[Body]:
        """Log all that the coordinator has to state now; yields each body once it is logged."""
        while due := self._coordinator.next_statement(now_ms):
            if due.document is not None:
                self._keep_document(due.document)
            try:
                admission.admit(self.size, due.entry, self.state, now_ms)
            except RefusedError as err:
                self._note_error(due.run, err)
                self._coordinator.back_off(due.run, now_ms)
                continue
            self._record(due.entry, now_ms)
            yield due.entry.statement.body

    def _open(self, organiser: SimulatedKey, manifest: Manifest, now_ms: int) -> None:
        doc = to_text(self.state.genesis.encode())
        self._log(self._key, NetGenesis(doc=doc), None, now_ms)
        head = to_text(first_head(manifest).hash)
        body = RunOpen(manifest=to_text(manifest.run_id), head=head)
        self._log(organiser, body, manifest.run_id, now_ms)

    def _log(self, author: StatementSigner, body: Body, run: RunId | None, now_ms: int) -> None:
        statement = make(
            body=body,
            author=author.key,
            seq=1,
            ts=now_ms,
            exp=now_ms + STATEMENT_LIFE_MS,
            prev=ZERO_DIGEST,
            run=run,
        )
        entry = sign(self.net, statement, author)
        admission.admit(self.size, entry, self.state, now_ms)
        self._record(entry, now_ms)

    def _record(self, entry: Entry, now_ms: int) -> None:
        cost, leaf, body = self.cost, entry.leaf(), entry.statement.body
        cost.entries[entry.statement.type] += 1
        cost.entry_bytes += len(leaf)
        cost.sent_bytes += self.readers * len(LogEvent(self.size, leaf).encode())
        self.size += 1
        if isinstance(body, RoundRoster | RoundClose):
            document = next(reversed(self._documents.values()))
            cost.reads += self.readers
            cost.sent_bytes += self.readers * len(document)
        if now_ms - self._checked_ms >= CHECK_MS:
            cost.reads += self.readers
            self._checked_ms = now_ms

    def _keep_document(self, document: bytes) -> None:
        self.cost.document_bytes += len(document)
        self._documents[sha256(document)] = document
        if len(self._documents) > DOCUMENTS:
            # After the first, which is the manifest.
            del self._documents[list(self._documents)[1]]

    def _note_error(self, run: RunId | None, err: TequioError) -> None:
        self.errors.append(f"{'network' if run is None else 'run'}: {err}")
