"""Who vouches for the log: GET /v1/witnesses, /log/policy, and proofs of logging to keep."""

from litestar import Response, get
from litestar.params import FromPath

from tequio_ledger.publishing.publisher import Publication
from tequio_ledger.service import Ledger
from tequio_ledger.store import entry_rows, log_rows
from tequio_ledger.web.given import GivenLedger
from tequio_shared.api.log import WitnessAnswer, WitnessesAnswer
from tequio_shared.errors import RefusedError
from tequio_shared.ids import digest_from_text
from tequio_shared.notes import VerifierKey
from tequio_shared.policy import NONE, Policy, PolicyLog
from tequio_shared.tlog_proof import TlogProof

_TEXT = "text/plain"


@get("/v1/witnesses", sync_to_thread=False)
def get_witnesses(ledger: GivenLedger) -> WitnessesAnswer:
    """Say who must cosign the log, and how each of them is."""
    if ledger.publisher is None:
        size = ledger.published.size
        return WitnessesAnswer(quorum=NONE, published=size, signed=size, late_ms=0, witnesses=[])
    return _answer(ledger.publisher.publication())


@get("/log/policy", sync_to_thread=False)
def get_policy(ledger: GivenLedger) -> Response[bytes]:
    """Give the policy that the log is published under, for --trust (C2SP tlog-policy)."""
    return Response(_policy(ledger).encode(), media_type=_TEXT)


@get("/v1/statements/{name:str}/proof", sync_to_thread=True)
def get_proof(ledger: GivenLedger, name: FromPath[str]) -> Response[bytes]:
    """Prove that a statement is in the published log; `extra` holds its leaf (C2SP tlog-proof)."""
    statement, published = digest_from_text(name), ledger.published
    with ledger.database.glance.connect() as connection:
        index = entry_rows.index_of_id(connection, statement)
        if index is None or index >= published.size:
            raise RefusedError("not-found", f"the published log has no statement {name}")
        (leaf,) = log_rows.read_leaves(connection, index, index + 1)
    path = tuple(ledger.proofs.at(published.size).inclusion(index))
    proof = TlogProof(index=index, path=path, note=published.note, extra=leaf)
    return Response(proof.encode(), media_type=_TEXT)


def _policy(ledger: Ledger) -> Policy:
    """The ledger's policy, naming its own log alone."""
    log = PolicyLog(key=VerifierKey.parse(ledger.genesis.log_key))
    if ledger.policy is None:
        return Policy(logs=(log,), witnesses=(), groups=(), quorum=NONE)
    own = ledger.policy
    return Policy(logs=(log,), witnesses=own.witnesses, groups=own.groups, quorum=own.quorum)


def _answer(found: Publication) -> WitnessesAnswer:
    return WitnessesAnswer(
        quorum=found.quorum,
        published=found.published,
        signed=found.signed,
        late_ms=int(found.late_s * 1000),
        witnesses=[
            WitnessAnswer(
                name=one.name,
                key=one.key,
                url=one.url,
                size=one.size,
                answer_ms=None if one.answer_s is None else int(one.answer_s * 1000),
                problem=one.problem,
            )
            for one in found.witnesses
        ],
    )
