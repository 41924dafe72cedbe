"""Quarantine at the real ledger: it finds the fault by itself, and no restart forgets it."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.clock import now_ms
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import sha256, to_text
from tequio_shared.statements.network import FaultReport, MemberLeave, MemberReady
from tests.support.attack_table import attack
from tests.support.attackers_ledger import SECOND, attacked_ledger, monkey
from tests.support.attackers_round import forged_piece, scale_255
from tests.support.authors import Author
from tests.support.commitments import commitment
from tests.support.ledgers import UNLIMITED
from tests.support.signing_swarm import manifest
from tests.support.statements import example
from tests.support.uploads import put_blob

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.statements.statement import Entry
    from tests.support.attackers_ledger import AttackedLedger
    from tests.support.attackers_round import Spoil

RULES = manifest()
D = to_text(bytes(32))


def ready(author: Author) -> Entry:
    body = MemberReady(head=D, roles=("trainer", "witness"))
    return author.sign(body, now_ms(), run=RULES.run_id)


def forked(author: Author) -> tuple[Entry, Entry]:
    """Two statements of one author under one number."""
    end = author.seq, author.last
    first = ready(author)
    author.seq, author.last = end
    return first, author.sign(MemberLeave(reason=1), now_ms(), run=RULES.run_id)


@attack("W2", layer="qua", ends="the ledger logs both signatures itself: quarantined at once")
@attack("P7", layer="qua", ends="unchanged after kill -9 and a restart")
def test_an_equivocation_quarantines_and_a_killed_ledger_remembers_it(tmp_path: Path) -> None:
    with attacked_ledger(tmp_path, *UNLIMITED) as ledger:
        ledger.open(RULES)
        cheat, honest = ledger.author("two-tongued"), ledger.author("honest")
        first, second = forked(cheat)
        assert ledger.post_entries(first, second) == ["logged", "equivocation"]
        cheat.seq, cheat.last = first.statement.seq, first.statement.digest
        assert ledger.post_entries(ready(honest)) == ["logged"]
        assert ledger.post_entries(ready(cheat)) == ["quarantined"]
        ledger.ledger.kill()
    cheat.seq, cheat.last = first.statement.seq, first.statement.digest
    with attacked_ledger(tmp_path, *UNLIMITED) as ledger:
        assert ledger.post_entries(ready(cheat)) == ["quarantined"]
        assert ledger.post_entries(ready(honest)) == ["logged"]


@attack("W8", layer="qua", ends="a witness's report over HTTP quarantines, and a restart keeps it")
@attack("P16", layer="qua", ends="the ledger reports a false report itself: its author is out")
def test_a_piece_convicts_its_author_and_a_false_one_its_reporter(tmp_path: Path) -> None:
    with attacked_ledger(tmp_path, *UNLIMITED) as ledger:
        ledger.open(RULES)
        cheat, witness = ledger.author("spoils records"), ledger.author("has the piece")
        ends = [(cheat, cheat.last)]
        assert ledger.post_entries(accuse(ledger, witness, cheat, scale_255)) == ["logged"]
        assert ledger.post_entries(ready(cheat)) == ["quarantined"]
        honest, framer = ledger.author("trains"), ledger.author("frames")
        ends.append((framer, framer.last))
        false = accuse(ledger, framer, honest, lambda payload, _: payload)
        assert ledger.post_entries(false) == ["wrong-evidence"]
        framer.last = ends[-1][1]  # a refused statement is not in the chain
        assert ledger.post_entries(ready(honest), ready(witness)) == ["logged", "logged"]
        assert ledger.post_entries(ready(framer)) == ["quarantined"]
        ledger.ledger.kill()
    with attacked_ledger(tmp_path, *UNLIMITED) as ledger:
        for author, end in ends:
            author.last = end
            assert ledger.post_entries(ready(author)) == ["quarantined"]


def accuse(ledger: AttackedLedger, reporter: Author, accused: Author, spoil: Spoil) -> Entry:
    """Upload a piece of a payload that the accused committed to, and sign the report of it."""
    header, piece = forged_piece(accused.key, RULES.run_id, spoil)
    assert put_blob(ledger.http, ledger.net, piece, now_ms(), reporter.signer).is_success
    end, body = accused.last, commitment(header)
    leaf = accused.sign(body, now_ms(), run=RULES.run_id, number=1).leaf()
    accused.last = end  # the ledger never saw that one
    report = FaultReport(leaves=(to_text(leaf),), piece=to_text(sha256(piece)))
    return reporter.sign(report, now_ms())


@attack("A13", layer="adm", ends="refused: a report is about a registered key, so it costs work")
def test_nobody_fills_the_record_with_keys_that_were_never_registered(tmp_path: Path) -> None:
    with attacked_ledger(tmp_path, *UNLIMITED) as ledger:
        reporter, before = ledger.author("reporter"), ledger.size()
        end = reporter.seq, reporter.last
        for number in range(3):
            nobody = Author(f"nobody {number}", ledger.net)
            nobody.seq = 1
            leaves = tuple(to_text(one.leaf()) for one in forked(nobody))
            reporter.seq, reporter.last = end
            said = ledger.post_entries(
                reporter.sign(FaultReport(leaves=leaves, piece=""), now_ms())
            )
            assert said != ["logged"]
            assert not ledger.knows(nobody.key)
        assert ledger.size() == before


@attack(
    "L7",
    layer="adm",
    ends="refused; a fault too large for a report is not reported",
)
def test_a_fault_too_large_for_a_report_does_not_end_the_ledger(tmp_path: Path) -> None:
    with attacked_ledger(tmp_path, *UNLIMITED) as ledger:
        ledger.open(RULES)
        cheat, honest = ledger.author("bloated"), ledger.author("neighbour")
        end = cheat.seq, cheat.last
        assert ledger.post_entries(ready(cheat)) == ["logged"]
        cheat.seq, cheat.last = end
        large = msgspec.structs.replace(example("witness.proof"), bloom=to_text(bytes(10_000)))
        second = cheat.sign(large, now_ms(), run=RULES.run_id, number=1)
        assert ledger.post_entries(second) == ["equivocation"]
        assert ledger.post_entries(ready(honest)) == ["logged"]


@attack("L8", layer="adm", ends="each is judged; the ledger keeps serving honest members")
@pytest.mark.parametrize("seed", [1])
def test_any_signed_statement_of_anybody_leaves_the_ledger_standing(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    with attacked_ledger(tmp_path, *UNLIMITED) as ledger:
        ledger.open(RULES)
        organiser = Author("organiser", ledger.net)
        organiser.signer = SECOND
        speakers = [ledger.author("monkey"), ledger.author("ape"), organiser]
        said: Counter[str] = Counter()
        for _ in range(250):
            speaker = chance.choice(speakers)
            end = speaker.seq, speaker.last
            with suppress(PeerError, RefusedError):  # what cannot even be written
                entry = monkey(chance, speaker, [one.key for one in speakers])
                (outcome,) = ledger.post_entries(entry)
                said[outcome] += 1
                if outcome == "logged":
                    continue
            speaker.seq, speaker.last = end
        assert len(said) > 5, said
        assert ledger.author("afterwards").seq == 1
        assert ledger.http.get("/healthz").status_code == 200
    with attacked_ledger(tmp_path, *UNLIMITED) as ledger:  # and what it logged reads back
        assert ledger.author("after the start").seq == 1
