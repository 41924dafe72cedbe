"""Admission: one statement for every problem code, and the order in which they are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import ZERO_DIGEST, Digest, RunId, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import CLOCK_SKEW_MS
from tequio_shared.network.genesis import Genesis
from tequio_shared.network.run import first_head
from tequio_shared.network.tiers import Tier
from tequio_shared.served.admission import admit, screen
from tequio_shared.served.state import State
from tequio_shared.statements.network import (
    InviteClose,
    InviteOpen,
    KeyRegister,
    MemberLeave,
    MemberReady,
    MemberVouch,
    RoleGrant,
    RoleRevoke,
    has_work,
)
from tequio_shared.statements.runs import (
    HeadAttest,
    NetGenesis,
    RoundVoid,
    RunOpen,
    RunPause,
    RunResume,
)
from tests.support.authors import LIFE_MS, WORK_BITS, Author, registration
from tests.support.ledgers import ORGANISER, START_MS
from tests.support.signing_swarm import manifest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.statements.statement import Entry

SECOND = Signer(bytes([8]) * 32)
COORDINATOR = Signer(bytes([9]) * 32)
LINK = Signer(bytes([10]) * 32)
RULES = manifest()
D = to_text(sha256(b"some digest"))
VRF = to_text(bytes(80))
GENESIS = Genesis(
    name="test",
    origin="ledger.example/test",
    log_key="unused",
    coordinator=to_text(COORDINATOR.key),
    organisers=tuple(to_text(key) for key in sorted([ORGANISER.key, SECOND.key])),
    threshold=2,
    rules=D,
    work_bits=WORK_BITS,
)


class AdmissionState:
    """A state with one open run and one registered member."""

    def __init__(self) -> None:
        documents = {sha256(RULES.encode()): RULES.encode(), sha256(b"junk"): b"junk"}
        self.state = State(GENESIS, documents.__getitem__)
        self.now = START_MS
        self.index = 1  # after the genesis
        self.member = Author("member", self.state.net)
        self.stranger = Author("stranger", self.state.net)
        self.organiser = Author("organiser", self.state.net)
        self.organiser.signer = ORGANISER
        self.admit(self.member.register(self.now))
        self.admit(self.open_run(RULES.run_id, to_text(first_head(RULES).hash)))

    def admit(self, entry: Entry) -> None:
        """Admit an entry at the next index."""
        admit(self.index, entry, self.state, self.now)
        self.index += 1

    def open_run(self, run: RunId, head: str, document: Digest | None = None) -> Entry:
        """A `run.open` of both organisers."""
        body = RunOpen(manifest=to_text(document or run), head=head)
        return self.organiser.sign(body, self.now, SECOND, run=run)

    def ready(self, run: RunId = RULES.run_id) -> Entry:
        """A `member.ready` of the member."""
        body = MemberReady(head=D, roles=("trainer",))
        return self.member.sign(body, self.now, run=run)


def expired(place: AdmissionState) -> Entry:
    entry = place.ready()
    place.now += LIFE_MS + 1
    return entry


def from_the_past(place: AdmissionState) -> Entry:
    entry = place.ready()
    place.now += CLOCK_SKEW_MS + 1
    return entry


def from_the_future(place: AdmissionState) -> Entry:
    later = place.now + CLOCK_SKEW_MS + 1
    return place.member.sign(MemberLeave(reason=1), later, run=RULES.run_id)


def unregistered(place: AdmissionState) -> Entry:
    return place.stranger.sign(MemberLeave(reason=1), place.now, run=RULES.run_id)


def unregistered_cosigner(place: AdmissionState) -> Entry:
    others = place.stranger.signer
    return place.member.sign(MemberLeave(reason=1), place.now, others, run=RULES.run_id)


def without_work(place: AdmissionState) -> Entry:
    nonce = registration(place.state.net, place.stranger.key).nonce + 1
    while has_work(place.state.net, place.stranger.key, WORK_BITS, nonce):
        nonce += 1
    return place.stranger.sign(KeyRegister(nonce=nonce), place.now)


def registered_twice(place: AdmissionState) -> Entry:
    return place.member.register(place.now)


def founder_registered(place: AdmissionState) -> Entry:
    return place.organiser.register(place.now)


def coordinators_word(place: AdmissionState) -> Entry:
    return place.member.sign(RoundVoid(reason=1), place.now, run=RULES.run_id, number=1)


def second_genesis(place: AdmissionState) -> Entry:
    coordinator = Author("coordinator", place.state.net)
    coordinator.signer = COORDINATOR
    return coordinator.sign(NetGenesis(doc=to_text(GENESIS.encode())), place.now)


def members_pause(place: AdmissionState) -> Entry:
    return place.member.sign(RunPause(reason=1), place.now, run=RULES.run_id)


def one_of_two_organisers(place: AdmissionState) -> Entry:
    return place.organiser.sign(RunPause(reason=1), place.now, run=RULES.run_id)


def invite(place: AdmissionState, uses: int = 1, until: int = START_MS + LIFE_MS) -> None:
    body = InviteOpen(invitation=to_text(LINK.key), uses=uses, until=until, run="")
    place.admit(place.organiser.sign(body, place.now, SECOND))


def guest(place: AdmissionState, name: str = "guest", *links: Signer) -> Entry:
    author = Author(name, place.state.net)
    return author.sign(registration(place.state.net, author.key), place.now, *links or (LINK,))


def guest_of_nobody(place: AdmissionState) -> Entry:
    return guest(place)


def guest_of_a_member(place: AdmissionState) -> Entry:
    return guest(place, "guest", place.member.signer)


def guest_too_many(place: AdmissionState) -> Entry:
    invite(place, uses=1)
    place.admit(guest(place, "first"))
    return guest(place, "second")


def guest_too_late(place: AdmissionState) -> Entry:
    invite(place, until=START_MS + 5)
    place.now += 5
    return guest(place)


def guest_of_a_closed_invitation(place: AdmissionState) -> Entry:
    invite(place)
    body = InviteClose(invitation=to_text(LINK.key))
    place.admit(place.organiser.sign(body, place.now, SECOND))
    return guest(place)


def guest_who_is_here(place: AdmissionState) -> Entry:
    invite(place)
    return place.member.sign(registration(place.state.net, place.member.key), place.now, LINK)


def invitation_twice(place: AdmissionState) -> Entry:
    invite(place)
    body = InviteOpen(invitation=to_text(LINK.key), uses=9, until=START_MS, run="")
    return place.organiser.sign(body, place.now, SECOND)


def invitation_that_nobody_opened(place: AdmissionState) -> Entry:
    body = InviteClose(invitation=to_text(LINK.key))
    return place.organiser.sign(body, place.now, SECOND)


def grant(place: AdmissionState, until: int = START_MS + LIFE_MS) -> None:
    body = RoleGrant(peer=to_text(place.member.key), role="connector", until=until)
    place.admit(place.organiser.sign(body, place.now, SECOND))


def vouch(place: AdmissionState, peer: Author) -> Entry:
    body = MemberVouch(peer=to_text(peer.key), owner=D, until=START_MS + LIFE_MS)
    return place.member.sign(body, place.now)


def vouch_of_a_member(place: AdmissionState) -> Entry:
    return vouch(place, place.member)


def vouch_after_the_term(place: AdmissionState) -> Entry:
    grant(place, until=START_MS)
    return vouch(place, place.member)


def vouch_for_a_stranger(place: AdmissionState) -> Entry:
    grant(place)
    return vouch(place, place.stranger)


def grant_by_one(place: AdmissionState) -> Entry:
    body = RoleGrant(peer=D, role="connector", until=START_MS)
    return place.organiser.sign(body, place.now)


def role_of_nobody_revoked(place: AdmissionState) -> Entry:
    return place.organiser.sign(RoleRevoke(peer=D, role="connector"), place.now, SECOND)


def gap(place: AdmissionState) -> Entry:
    place.ready()
    return place.ready()


def other_words_under_a_used_number(place: AdmissionState) -> Entry:
    twin = Author("member", place.state.net)
    twin.seq, twin.last = place.member.seq, place.member.last
    place.admit(place.ready())
    return twin.sign(MemberLeave(reason=1), place.now, run=RULES.run_id)


def another_past(place: AdmissionState) -> Entry:
    place.member.last = sha256(b"another past")
    return place.ready()


def unknown_run(place: AdmissionState) -> Entry:
    return place.ready(RunId(sha256(b"another run")))


def run_opened_twice(place: AdmissionState) -> Entry:
    return place.open_run(RULES.run_id, to_text(first_head(RULES).hash))


def run_without_manifest(place: AdmissionState) -> Entry:
    return place.open_run(RunId(sha256(b"never put")), D)


def run_with_junk(place: AdmissionState) -> Entry:
    return place.open_run(RunId(sha256(b"junk")), D)


def run_with_anothers_manifest(place: AdmissionState) -> Entry:
    return place.open_run(RunId(sha256(b"mine")), D, sha256(RULES.encode()))


def run_from_another_head(place: AdmissionState) -> Entry:
    fresh = State(GENESIS, place.state.documents)
    fresh.peers = place.state.peers
    place.state = fresh
    return place.open_run(RULES.run_id, D)


def attest_without_round(place: AdmissionState) -> Entry:
    body = HeadAttest(head=D, weights_root=D, aux_root=D, vrf=VRF)
    return place.member.sign(body, place.now, run=RULES.run_id, number=1)


def resume_of_a_running_run(place: AdmissionState) -> Entry:
    return place.organiser.sign(RunResume(reason=1), place.now, SECOND, run=RULES.run_id)


CASES: list[tuple[Callable[[AdmissionState], Entry], str]] = [
    (expired, "expired"),
    (from_the_past, "clock-skew"),
    (from_the_future, "clock-skew"),
    (unregistered, "not-admitted"),
    (unregistered_cosigner, "not-admitted"),
    (without_work, "no-work"),
    (registered_twice, "wrong-state"),
    (founder_registered, "wrong-state"),
    (coordinators_word, "wrong-role"),
    (second_genesis, "wrong-network"),
    (members_pause, "wrong-role"),
    (one_of_two_organisers, "wrong-role"),
    (gap, "seq-gap"),
    (other_words_under_a_used_number, "equivocation"),
    (another_past, "seq-gap"),
    (unknown_run, "not-found"),
    (run_opened_twice, "wrong-state"),
    (run_without_manifest, "not-found"),
    (run_with_junk, "malformed"),
    (run_with_anothers_manifest, "malformed"),
    (run_from_another_head, "wrong-head"),
    (attest_without_round, "not-in-round"),
    (resume_of_a_running_run, "wrong-state"),
    (guest_of_nobody, "not-admitted"),
    (guest_of_a_member, "not-admitted"),
    (guest_too_many, "invitation-spent"),
    (guest_too_late, "invitation-ended"),
    (guest_of_a_closed_invitation, "invitation-ended"),
    (guest_who_is_here, "wrong-state"),
    (invitation_twice, "wrong-invitation"),
    (invitation_that_nobody_opened, "wrong-invitation"),
    (vouch_of_a_member, "wrong-role"),
    (vouch_after_the_term, "wrong-role"),
    (vouch_for_a_stranger, "not-found"),
    (grant_by_one, "wrong-role"),
    (role_of_nobody_revoked, "wrong-grant"),
]


@pytest.mark.parametrize(("make", "code"), CASES, ids=[make.__name__ for make, _ in CASES])
def test_is_refused_with_its_code(make: Callable[[AdmissionState], Entry], code: str) -> None:
    place = AdmissionState()
    entry = make(place)
    with pytest.raises(RefusedError) as caught:
        admit(place.index, entry, place.state, place.now)
    assert caught.value.code == code


def test_a_refused_time_says_how_the_clocks_differ() -> None:
    for make, how in ((from_the_past, "300 s behind"), (from_the_future, "300 s ahead of")):
        place = AdmissionState()
        entry = make(place)
        with pytest.raises(RefusedError, match=f"ts is {how} the ledger's clock"):
            admit(place.index, entry, place.state, place.now)


def test_what_follows_the_rules_is_admitted() -> None:
    place = AdmissionState()
    place.admit(place.ready())
    place.admit(place.organiser.sign(RunPause(reason=1), place.now, SECOND, run=RULES.run_id))
    assert place.state.peers[place.member.key].seq == 2


def test_the_invited_and_those_vouched_for_belong_to_somebody() -> None:
    place = AdmissionState()
    invite(place)
    entry = guest(place)
    place.admit(entry)
    grant(place)
    place.admit(vouch(place, place.member))
    tiers, at = place.state.tiers, (RULES.run_id, place.now)
    assert tiers.of(entry.statement.author, *at).owner == Digest(LINK.key)
    assert tiers.of(place.member.key, *at).tier is Tier.VOUCHED


def test_a_key_counts_as_known_once_its_registration_stands_before_it_in_the_batch() -> None:
    place = AdmissionState()
    place.stranger.register(place.now)
    entry = place.stranger.sign(MemberLeave(reason=1), place.now, run=RULES.run_id)
    screen(entry, place.state, place.now, {place.stranger.key})
    with pytest.raises(RefusedError, match="not registered"):
        screen(entry, place.state, place.now)


def test_a_log_that_registers_a_key_twice_or_without_work_is_not_folded() -> None:
    for make in (without_work, registered_twice):
        place = AdmissionState()
        entry = make(place)
        with pytest.raises(RefusedError):
            place.state.apply(place.index, entry, place.now)


def test_a_refused_statement_leaves_the_state_as_it_was() -> None:
    place = AdmissionState()
    before = dict(place.state.peers)
    with pytest.raises(RefusedError):
        place.admit(gap(place))
    assert place.state.peers == before
    assert place.state.peers[place.member.key].last != ZERO_DIGEST
