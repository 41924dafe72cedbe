"""People who say what is not theirs to say, at the door of the real ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.clock import now_ms
from tequio_shared.addresses import AddressRecord
from tequio_shared.errors import SignatureInvalidError
from tequio_shared.ids import PeerKey, RunId, peer_id_text, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log.notes import KeyKind, VerifierKey
from tequio_shared.network.genesis import COORDINATOR_BODIES, ORGANISER_BODIES
from tequio_shared.statements.network import (
    MemberLeave,
    MemberReady,
    MemberVouch,
    StandingRelease,
    StandingUphold,
)
from tequio_shared.statements.runs import RunFinish, RunPause, RunResume
from tequio_shared.statements.statement import Entry
from tests.support.attack_table import attack
from tests.support.attackers import forged
from tests.support.attackers_ledger import (
    SECOND,
    SMALL_KEYS,
    AttackedLedger,
    all_refused,
    attacked_ledger,
    elsewhere,
    mixed,
    opening,
    registering,
    respelt,
    under,
)
from tests.support.authors import Author
from tests.support.ledgers import ORGANISER, UNLIMITED
from tests.support.signing_swarm import manifest
from tests.support.statements import example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_shared.statements.statement import Body


RULES = manifest()
D = to_text(sha256(b"something"))
NUMBER = 1


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackedLedger]:
    with attacked_ledger(tmp_path_factory.mktemp("ledger"), *UNLIMITED) as place:
        place.open(RULES)
        yield place


def ready(author: Author, run: RunId = RULES.run_id) -> Entry:
    body = MemberReady(head=D, roles=("trainer", "witness"))
    return author.sign(body, now_ms(), run=run)


@attack("A7", layer="adm", ends="refused as `not-admitted`, or as in no roster")
@attack("A9", layer="adm", ends="refused before anything about the stranger is stored")
def test_who_is_not_registered_has_no_role(ledger: AttackedLedger) -> None:
    before = ledger.size()
    stranger = Author("stranger", ledger.net)
    assert ledger.post_entries(ready(stranger)) == ["not-admitted"]
    assert not ledger.knows(stranger.key)
    for name in ("work.commit", "witness.proof", "head.attest"):
        entry = stranger.sign(example(name), now_ms(), run=RULES.run_id, number=NUMBER)
        assert ledger.post_entries(entry) == ["not-admitted"]
    assert ledger.size() == before
    member = ledger.author("no member")
    end = member.seq, member.last
    for name in ("work.commit", "witness.proof", "head.attest"):
        member.seq, member.last = end
        entry = member.sign(example(name), now_ms(), run=RULES.run_id, number=NUMBER)
        assert ledger.post_entries(entry) == ["not-in-round"]


OTHERS_WORDS: dict[str, tuple[Body, RunId | None, int | None]] = {
    "head.promote": (example("head.promote"), RULES.run_id, 1),
    "round.roster": (example("round.roster"), RULES.run_id, 1),
    "round.open": (example("round.open"), RULES.run_id, 1),
    "round.witness": (example("round.witness"), RULES.run_id, 1),
    "round.close": (example("round.close"), RULES.run_id, 1),
    "round.void": (example("round.void"), RULES.run_id, 1),
    "run.close": (example("run.close"), RULES.run_id, None),
    "run.open": (opening(RULES), RULES.run_id, None),
    "run.pause": (RunPause(reason=1), RULES.run_id, None),
    "run.resume": (RunResume(reason=1), RULES.run_id, None),
    "run.rollback": (example("run.rollback"), RULES.run_id, None),
    "run.notice": (example("run.notice"), RULES.run_id, None),
    "run.finish": (RunFinish(reason=1), RULES.run_id, None),
    "net.genesis": (example("net.genesis"), None, None),
    "standing.change": (example("standing.change"), None, None),
    "standing.release": (example("standing.release"), None, None),
    "standing.uphold": (example("standing.uphold"), None, None),
    "invite.open": (example("invite.open"), None, None),
    "invite.close": (example("invite.close"), None, None),
    "invite.revoke": (example("invite.revoke"), None, None),
    "role.grant": (example("role.grant"), None, None),
    "role.revoke": (example("role.revoke"), None, None),
    "member.vouch": (example("member.vouch"), None, None),
    "checkpoint.publish": (example("checkpoint.publish"), RULES.run_id, 1),
    "net.notice": (example("net.notice"), None, None),
    "software.release": (example("software.release"), None, None),
    "name.withdraw": (example("name.withdraw"), None, None),
    "log.snapshot": (example("log.snapshot"), None, None),
    "comp.open": (example("comp.open"), None, None),
    "comp.close": (example("comp.close"), None, None),
    "comp.draw": (example("comp.draw"), None, None),
    "comp.result": (example("comp.result"), None, None),
}


@attack("A10", layer="adm", ends="refused as `wrong-role`: only the coordinator promotes heads")
@attack("A6", layer="adm", ends="refused as `wrong-role`; nobody's standing changes")
@attack("A5", layer="adm", ends="refused as `wrong-role`: rules come from genesis and `run.open`")
@pytest.mark.parametrize("name", OTHERS_WORDS)
def test_a_member_cannot_speak_for_coordinator_or_organisers(
    ledger: AttackedLedger, name: str
) -> None:
    member, before = ledger.author(f"usurper {name}"), ledger.size()
    body, run, number = OTHERS_WORDS[name]
    assert ledger.post_entries(member.sign(body, now_ms(), run=run, number=number)) == [
        "wrong-role"
    ]
    assert ledger.size() == before


def test_every_word_of_coordinator_and_organisers_was_tried() -> None:
    spoken = {*COORDINATOR_BODIES, *ORGANISER_BODIES, MemberVouch}
    assert spoken == {type(body) for body, _, _ in OTHERS_WORDS.values()}


@attack("A6", layer="adm", ends="refused: a release needs two organisers and names one key")
def test_one_organiser_alone_releases_nobody(ledger: AttackedLedger) -> None:
    organiser = Author("alone", ledger.net)
    organiser.signer = SECOND
    end = organiser.seq, organiser.last
    release = StandingRelease(peer=to_text(Author("usurper run.open", ledger.net).key), reason=1)
    assert ledger.post_entries(organiser.sign(release, now_ms())) == ["wrong-role"]
    huge = StandingUphold(peer=D, to="banned", reason=65_535)
    organiser.seq, organiser.last = end
    assert ledger.post_entries(organiser.sign(huge, now_ms())) == ["not-found"]


@attack(
    "A5", layer="coord", ends="refused: other rules are another run, because the manifest names it"
)
def test_even_an_organiser_cannot_weaken_the_rules_of_a_run(ledger: AttackedLedger) -> None:
    weaker = msgspec.structs.replace(
        RULES, rounds=msgspec.structs.replace(RULES.rounds, witness=0, grace=0)
    )
    assert ledger.put(ORGANISER, weaker.encode(), now_ms()) == 201
    organiser = Author("second", ledger.net)
    organiser.signer = SECOND
    swapped = organiser.sign(opening(weaker), now_ms(), run=RULES.run_id)
    assert ledger.post_entries(swapped)[0] in ("malformed", "wrong-state")


@attack("A1", layer="env", ends="refused as `bad-signature`: only the author's own key counts")
def test_a_statement_in_somebody_elses_name_is_refused(ledger: AttackedLedger) -> None:
    victim, before = ledger.author("victim"), ledger.size()
    said = ready(victim)
    assert ledger.post_entries(under(said, Signer(sha256(b"impostor")), ledger.net)) == [
        "bad-signature"
    ]
    assert ledger.post_entries(forged(said)) == ["bad-signature"]
    leaf = said.leaf()
    impostor = Signer(sha256(b"impostor"))
    assert ledger.post(leaf[:2] + impostor.key + leaf[34:]) == ["malformed"]
    assert ledger.size() == before
    assert ledger.post_entries(said) == ["logged"]  # the victim is not blocked


@attack("W20", layer="env", ends="known, not logged again; elsewhere the signature does not hold")
@attack(
    "A23", layer="env", ends="refused as `bad-signature`: the network's id is in what is signed"
)
def test_a_statement_counts_once_and_in_one_network(ledger: AttackedLedger) -> None:
    author = ledger.author("repeated")
    said = ready(author)
    assert ledger.post_entries(said) == ["logged"]
    size = ledger.size()
    assert ledger.post_entries(said, said) == ["known", "known"]
    assert ledger.size() == size
    leaving = author.sign(MemberLeave(reason=1), now_ms(), run=RULES.run_id)
    assert ledger.post_entries(elsewhere(leaving, ledger.net, author.signer)) == ["bad-signature"]
    other_run = RunId(sha256(b"another run"))
    author.seq, author.last = said.statement.seq, said.statement.digest
    moved = author.sign(leaving.statement.body, now_ms(), run=other_run)
    assert ledger.post_entries(moved) == ["not-found"]


@attack("W2", layer="adm", ends="the second statement under a number is refused: `equivocation`")
def test_a_second_statement_under_one_number_is_refused(ledger: AttackedLedger) -> None:
    author = ledger.author("two-tongued")
    first = ready(author)
    author.seq, author.last = first.statement.seq - 1, first.statement.prev
    second = author.sign(MemberLeave(reason=1), now_ms(), run=RULES.run_id)
    assert second.statement.seq == first.statement.seq
    assert ledger.post_entries(first, second) == ["logged", "equivocation"]


@attack(
    "A8", layer="env", ends="changes nothing within its window; afterwards refused as `expired`"
)
def test_a_captured_upload_is_worth_nothing(ledger: AttackedLedger) -> None:
    author = ledger.author("uploader")
    assert ledger.put(author.signer, b"once", now_ms()) == 201
    assert ledger.put(author.signer, b"once", now_ms()) == 200  # it is here: nothing is written
    assert ledger.put(author.signer, b"twice", now_ms() - 61_000) == 422
    assert ledger.put(author.signer, b"thrice", now_ms() + 61_000) == 422
    assert ledger.put(author.signer, b"other bytes", now_ms(), sha256(b"signed bytes")) == 400
    assert ledger.put(Signer(sha256(b"nobody")), b"stranger's", now_ms()) == 403


@attack("Q12", layer="adm", ends="refused alone: the other items of the request are logged")
def test_one_bad_item_does_not_hurt_its_neighbours(ledger: AttackedLedger) -> None:
    authors = [Author(f"neighbour {at}", ledger.net) for at in range(5)]
    leaves = [one.register(now_ms()).leaf() for one in authors]
    leaves[2] = b"\x01\x01" + b"[" * 500
    assert ledger.post(*leaves) == ["logged", "logged", "malformed", "logged", "logged"]


@attack("L1", layer="env", ends="refused by the ledger, and by every verifier of another log")
@pytest.mark.parametrize("name", SMALL_KEYS)
def test_a_key_that_signs_for_everybody_is_refused(ledger: AttackedLedger, name: str) -> None:
    key = SMALL_KEYS[name]
    leaf = registering(key, ledger.net)
    assert ledger.post(leaf) == ["bad-signature"]
    assert not ledger.knows(PeerKey(key))
    with pytest.raises(SignatureInvalidError):
        Entry.parse(leaf).verify(ledger.net)  # what workers and auditors run
    with pytest.raises(SignatureInvalidError):
        AddressRecord(author=PeerKey(key), addrs=(), ts=1, signature=bytes([1]) + bytes(63)).verify(
            ledger.net
        )
    named = VerifierKey(name="log.test", kind=KeyKind.LOG, key=PeerKey(key))
    with pytest.raises(SignatureInvalidError):
        VerifierKey.parse(named.text())
    assert peer_id_text(PeerKey(key))


@attack("L1", layer="env", ends="refused: a valid key is a point of the main subgroup")
def test_a_key_of_mixed_order_is_refused(ledger: AttackedLedger) -> None:
    good = Signer(sha256(b"good key"))
    leaf = registering(mixed(good.key), ledger.net)
    assert ledger.post(leaf) == ["bad-signature"]
    with pytest.raises(SignatureInvalidError):
        Entry.parse(leaf).verify(ledger.net)


@attack("L6", layer="env", ends="refused as `malformed`, although the signature holds")
def test_a_second_spelling_of_a_statement_is_refused(ledger: AttackedLedger) -> None:
    author = Author("spelling", ledger.net)
    sound = author.register(now_ms())
    leaves = respelt(sound, author.signer, ledger.net)
    said = dict(zip(leaves, ledger.post(*leaves.values()), strict=True))
    assert said.pop("a larger number") in ("malformed", "unknown-type")
    assert all_refused([*said.values()], "malformed"), said
    assert ledger.post_entries(sound) == ["logged"]
