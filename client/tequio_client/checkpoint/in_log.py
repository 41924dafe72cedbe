"""The place of a head in a log, proven: the entry, its signature, its path to a signed root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_client.checkpoint import parts
from tequio_client.checkpoint.verdict import CannotTellError, NotTheHeadError
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.proofs import LogProofs, read_entries_of
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.ids import HeadHash, digest_from_text, to_text
from tequio_shared.merkle import leaf_hash, verify_consistency, verify_inclusion
from tequio_shared.notes import open_checkpoint
from tequio_shared.round import Head
from tequio_shared.statements.rounds import HeadPromote
from tequio_shared.tlog_proof import TlogProof

if TYPE_CHECKING:
    from tequio_client.checkpoint.parts import Claim
    from tequio_client.ledger.api import Network
    from tequio_shared.notes import Checkpoint
    from tequio_shared.policy import Policy
    from tequio_shared.statement import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A claim that the log bears out, and under which checkpoint."""

    network: Network
    checkpoint: Checkpoint


async def find(ledger: str, claim: Claim, proof: bytes, trust: Policy | None) -> Found:
    """Find the head that is claimed, and the proof that came with it, in the ledger's log.

    Raises NotTheHeadError, CannotTellError, and what the API raises.
    """
    async with LedgerApi(ledger, trust=trust) as api:
        network = await api.network()
        if to_text(network.id) != claim.network:
            raise CannotTellError(
                f"the ledger at {ledger} keeps the log of the network {network.genesis.name} "
                f"({to_text(network.id)[:10]}), and this head is said to be of "
                f"{claim.network[:10]}: give the right ledger with --ledger"
            )
        checkpoint, _ = await api.checkpoint_note()
        if claim.entry >= checkpoint.size:
            raise NotTheHeadError(
                f"the log has {checkpoint.size} entries: entry {claim.entry}, which should name "
                "this head, is not in it"
            )
        try:
            return await _find(api, network, checkpoint, claim, proof)
        except (PeerError, RefusedError) as err:
            raise NotTheHeadError(f"the proof from the log does not hold: {err}") from err


async def _find(
    api: LedgerApi, network: Network, checkpoint: Checkpoint, claim: Claim, proof: bytes
) -> Found:
    proofs = LogProofs(api, checkpoint.size)
    entries = await read_entries_of(api, network, checkpoint, proofs, [claim.entry])
    _check_entry(entries[claim.entry], claim)
    older = _proven(proof, entries[claim.entry], network, claim)
    if older.size > checkpoint.size:
        raise MalformedError(
            f"{parts.PROOF} is of a log of {older.size} entries; the ledger shows {checkpoint.size}"
        )
    path = await proofs.consistency(older.size)
    verify_consistency(older.size, older.root, checkpoint.size, checkpoint.root, path)
    return Found(network=network, checkpoint=checkpoint)


def _check_entry(entry: Entry, claim: Claim) -> None:
    statement, body = entry.statement, entry.statement.body
    if not isinstance(body, HeadPromote) or statement.run is None or statement.round is None:
        raise NotTheHeadError(
            f"entry {claim.entry} of the log is a {statement.type}: it names no certified head"
        )
    if (to_text(statement.run), statement.round) != (claim.run, claim.round):
        raise NotTheHeadError(
            f"entry {claim.entry} of the log certifies a head of round {statement.round} of run "
            f"{to_text(statement.run)[:10]}, not of round {claim.round} of {claim.run[:10]}"
        )
    if (body.head, body.weights_root) != (claim.head, claim.weights_root):
        raise NotTheHeadError(
            f"the log certifies other weights for round {claim.round}",
            f"root in the log:   {body.weights_root}",
            f"root of this head: {claim.weights_root}",
        )
    head = Head.of(
        statement.run,
        statement.round,
        parent=HeadHash(digest_from_text(body.parent)),
        set_root=digest_from_text(body.set_root),
        weights_root=digest_from_text(body.weights_root),
        aux_root=digest_from_text(body.aux_root),
    )
    if to_text(head.hash) != body.head:
        raise NotTheHeadError(f"entry {claim.entry} of the log names a head that is not its own")


def _proven(raw: bytes, entry: Entry, network: Network, claim: Claim) -> Checkpoint:
    """The checkpoint of the proof that came with the folder, which has to be about the entry."""
    proof = TlogProof.parse(raw)
    checkpoint = open_checkpoint(proof.note, network.log_key).checkpoint
    if proof.index != claim.entry:
        raise MalformedError(f"{parts.PROOF} is about entry {proof.index}, not {claim.entry}")
    leaf = leaf_hash(entry.leaf())
    verify_inclusion(leaf, proof.index, checkpoint.size, proof.path, checkpoint.root)
    return checkpoint
