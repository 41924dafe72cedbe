"""Evidence of left-out attestations: what counts, and what a forger can make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.ids import RunId, sha256, to_text
from tequio_shared.limits import CLOCK_SKEW_MS
from tequio_shared.network.run_states import RunState
from tequio_shared.round.omission import Omission, check_omission, least_peers, sign_omission
from tests.support.attackers_round import round_of, swarm_in
from tests.support.statements import example
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from tequio_shared.statements.statement import Entry
    from tests.support.memory_swarm import Swarm
    from tests.support.volunteers import Volunteer


class AttestedRound:
    """A round that is being attested, and an attestation that is not logged."""

    def __init__(self) -> None:
        self.swarm: Swarm = swarm_in(RunState.WARMUP, logged=2)
        self.current = round_of(self.swarm)
        missing = [
            one
            for one in self.swarm.volunteers
            if self.current.slot_of[one.key] not in self.current.attests
        ]
        self.victim, self.peer = missing[:2]
        self.entry = self.attestation(self.victim)
        self.grace = self.swarm.manifest.rounds.grace
        self.seen_ms = self.swarm.now_ms + 10
        self.ended_ms = self.seen_ms + 3 * self.grace // 4

    def attestation(self, author: Volunteer) -> Entry:
        draft = author.duty(self.swarm.view)
        assert draft is not None
        return author.sign(self.swarm.net, self.swarm.manifest.run_id, draft, self.swarm.now_ms)

    def omission(self, *, seen_ms: int = 0, offered_ms: int = 0) -> Omission:
        return sign_omission(
            self.peer.signer,
            self.swarm.net,
            self.entry,
            seen_ms or self.seen_ms,
            offered_ms or self.seen_ms + self.grace // 4,
            "queue-full",
        )

    def code(self, omission: Omission) -> str:
        try:
            check_omission(self.current, omission, omission.verify(), self.ended_ms)
        except RefusedError as err:
            return err.code
        return ""


@pytest.fixture
def place() -> AttestedRound:
    return AttestedRound()


def test_what_was_seen_and_offered_in_time_counts(place: AttestedRound) -> None:
    omission = place.omission()
    assert Omission.parse(omission.encode()) == omission
    assert place.code(omission) == ""


def test_what_was_seen_or_offered_late_does_not_count(place: AttestedRound) -> None:
    late = place.ended_ms - place.grace // 4 + 1
    assert place.code(place.omission(seen_ms=place.seen_ms + 1)) == "too-late"
    assert place.code(place.omission(offered_ms=late)) == "too-late"
    assert place.code(place.omission(offered_ms=place.seen_ms - 1)) == "too-late"
    for offered_ms in (late - 1, place.seen_ms):
        assert place.code(place.omission(offered_ms=offered_ms)) == ""


def test_an_entry_of_another_round_or_of_another_kind_does_not_count(place: AttestedRound) -> None:
    body, number = place.entry.statement.body, place.current.number
    run, other = place.swarm.manifest.run_id, RunId(sha256(b"another run"))
    commit = example("work.commit")
    for draft, about, code in (
        (StatementDraft(body, number + 1), run, "not-in-round"),
        (StatementDraft(body, number), other, "not-in-round"),
        (StatementDraft(commit, number), run, "malformed"),
    ):
        place.entry = place.victim.sign(place.swarm.net, about, draft, place.swarm.now_ms)
        assert place.code(place.omission()) == code


def test_what_had_expired_or_is_dated_after_it_was_seen_does_not_count(
    place: AttestedRound,
) -> None:
    statement = place.entry.statement
    earliest_ms = statement.ts - CLOCK_SKEW_MS
    assert place.code(place.omission(seen_ms=earliest_ms)) == ""
    assert place.code(place.omission(seen_ms=earliest_ms - 1)) == "expired"
    place.ended_ms = statement.exp
    assert place.code(place.omission()) == ""
    place.ended_ms += 1
    assert place.code(place.omission()) == "expired"


def test_what_is_in_the_log_does_not_count(place: AttestedRound) -> None:
    omission = place.omission()
    place.swarm.post(place.victim, place.victim.duty(place.swarm.view))  # type: ignore[arg-type]  # it has one
    assert place.code(omission) == "already-said"


def test_the_word_of_the_author_or_a_stranger_does_not_count(place: AttestedRound) -> None:
    for signer in (place.victim.signer, place.swarm.organiser):
        made = sign_omission(
            signer, place.swarm.net, place.entry, place.seen_ms, place.seen_ms + 1, ""
        )
        assert place.code(made) == "not-in-round"


@pytest.mark.parametrize(
    "change", [{"seen_ms": 1}, {"offered_ms": 1}, {"answer": "x"}, {"v": 2}, {"network": "A" * 43}]
)
def test_a_changed_field_breaks_the_signature(
    place: AttestedRound, change: dict[str, object]
) -> None:
    with pytest.raises((PeerError, MalformedError)):
        structs.replace(place.omission(), **change).verify()


def test_an_attestation_that_its_author_did_not_sign_is_refused(place: AttestedRound) -> None:
    leaf = bytearray(place.entry.leaf())
    leaf[40] ^= 1
    forged = structs.replace(place.omission(), leaf=to_text(bytes(leaf)), signature="")
    forged = structs.replace(forged, signature=to_text(place.peer.signer.sign(forged.message())))
    with pytest.raises(PeerError):
        forged.verify()


def test_so_many_peers_are_needed_that_one_is_honest(place: AttestedRound) -> None:
    assert len(place.current.roster.members) == 5
    assert least_peers(place.current) == 2  # of five: four are a quorum, and one may be hostile
    large = swarm_in(RunState.WARMUP, members=16)
    assert least_peers(round_of(large)) == 6
