"""A stranger's check of a competition: sound when all follows, else what is wrong, and where.

Every log here is one that an honest ledger would not have written: its door lets anything in.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from http.server import BaseHTTPRequestHandler
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest
import trio
from click.testing import CliRunner

from tequio_client import clock
from tequio_client.competition.verify_cli import verify_competition
from tequio_client.ledger import networks
from tequio_client.ledger.networks import KnownNetwork
from tequio_client.verify.competition import VerifyOptions, verify
from tequio_client.verify.report import NoProgress
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.log.notes import sign_checkpoint
from tequio_shared.log.policy import STALE_S
from tequio_shared.scoring import LEAST_DOCUMENTS
from tequio_shared.statements.competitions import EvalResult
from tequio_shared.statements.statement import Entry
from tests import lies
from tests.lies import ForgeableCompetition, reason
from tests.support import memory_log
from tests.support.attack_table import attack
from tests.support.competition_documents import DEADLINE, ENTRANTS, HOUR_MS, TEXTS, folder_of
from tests.support.cosigned_ledger import WitnessGroup, cosigned, wait_until_published
from tests.support.dishonest_log import DishonestLog
from tests.support.equivocators import key_folder
from tests.support.http_servers import serving
from tests.support.memory_log import COORDINATOR, LOG_SIGNER
from tests.support.rewritten_log import RewrittenLog
from tests.support.six_lies import LIES, Lie

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from tequio_shared.competition.rules import JudgedEvaluation


OTHER_LOG = "tequio.example/net1+fb2247ff+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"
POLICY = "log {log}\nwitness w {witness}\ngroup all 1 w\nquorum all\n"


@pytest.fixture(scope="module")
def honest() -> DishonestLog:
    """A whole competition; not to be changed."""
    return DishonestLog().play()


@pytest.fixture(scope="module")
def forgeable(
    honest: DishonestLog, tmp_path_factory: pytest.TempPathFactory
) -> ForgeableCompetition:
    """A ledger that has everybody's keys."""
    bundle = honest.bundle(tmp_path_factory.mktemp("league") / "bundle.tar")
    return ForgeableCompetition.of(bundle, [*honest.signers.values(), LOG_SIGNER])


def verified(place: object, *options: object) -> Result:
    command = [str(place), *map(str, options)]
    result = CliRunner().invoke(verify_competition, command, env={"COLUMNS": "300"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def refused(log: DishonestLog, folder: Path, entry: int, *says: str) -> str:
    """The log's check ends with 2, and names that entry and why."""
    result = verified(log.bundle(folder / "bundle.tar"))
    assert result.exit_code == 2, result.output
    lines = [line for line in result.output.splitlines() if line.startswith("mismatch")]
    first = next(line for line in lines if f"entry {entry}" in line)
    assert all(one in first for one in says), first
    assert "does not pass" in result.output
    return result.output


@pytest.mark.skipif(sys.platform != "linux", reason="has no /dev/full")
def test_findings_that_cannot_be_written_leave_the_check_incomplete(
    honest: DishonestLog, tmp_path: Path
) -> None:
    result = verified(honest.bundle(tmp_path / "bundle.tar"), "--json", "/dev/full")
    assert result.exit_code == 3
    assert result.stderr.endswith("cannot write /dev/full: No space left on device\n")


def test_a_sound_competition_is_sound_and_shows_its_ranks(
    tmp_path: Path,
) -> None:
    texts = [f"On day {at} the rain came back. " * 6 for at in range(33)]
    log = DishonestLog(texts=texts, drawn=LEAST_DOCUMENTS).play()
    result = verified(log.bundle(tmp_path / "bundle.tar"), "--json", tmp_path / "out.json")
    assert result.exit_code == 0, result.output
    for said in (
        "make the root",
        "33 documents match the sealed root",
        "30 were drawn",
        "byte for byte",
        "holds",
    ):
        assert said in result.output
    found = json.loads((tmp_path / "out.json").read_text())
    assert (found["exit"], found["findings"]) == (0, [])
    assert found["competition"] == log.name
    assert [(one["entrant"], one["rank"]) for one in found["outcome"]["places"]] == [
        ("alpha", 1),
        ("beta", 2),
    ]


def test_a_bundle_of_a_live_ledger_says_the_same_without_it(
    honest: DishonestLog, tmp_path: Path
) -> None:
    async def live() -> Result:
        async with memory_log.serving(honest.log) as server:
            server.blobs = honest.blobs
            page, options = f"{server.url}/competitions/{honest.name}", ("--bundle", kept)
            return await trio.to_thread.run_sync(verified, page, *options)

    kept = tmp_path / "kept.tar"

    result = trio.run(live)
    assert result.exit_code == 0, result.output
    again = verified(kept, "--bundle", tmp_path / "copy.tar", "--competition", "Rainy days 2026")
    assert again.exit_code == 0, again.output
    assert (tmp_path / "copy.tar").read_bytes() == kept.read_bytes()


# --- lies


@attack("C1", layer="cli", ends="medians are recomputed, and the liar is named: exit status 2")
@attack("C2", layer="cli", ends="the text does not match the root: exit status 2")
@attack("C3", layer="coord", ends="the share is too early, at that entry: exit status 2")
@attack("C4", layer="coord", ends="the later submission is too late, at that entry: exit status 2")
@attack("C5", layer="cli", ends="the correct and the stated ranking are named: exit status 2")
@attack("C6", layer="coord", ends="the evaluator was not drawn: exit status 2")
@pytest.mark.parametrize("lie", LIES, ids=lambda one: one.name.replace(" ", "-"))
def test_each_of_six_lies_is_found_and_named(
    lie: Lie, forgeable: ForgeableCompetition, tmp_path: Path
) -> None:
    forged, entry = forgeable.forged_bundle(lie, tmp_path / "told.tar")
    result = verified(forged, "--json", tmp_path / "found.json")
    assert result.exit_code == 2, result.output
    assert "does not pass" in result.output
    report = json.loads((tmp_path / "found.json").read_bytes())
    assert reason(lie, entry, report), result.output


def test_an_honest_log_that_is_told_anew_is_sound(
    forgeable: ForgeableCompetition, tmp_path: Path
) -> None:
    forged = RewrittenLog.of(forgeable.bundle, forgeable.signers).written(tmp_path / "told.tar")
    assert forged.read_bytes() == forgeable.bundle.read_bytes()


def test_a_lie_that_nobody_finds_ends_the_program_with_1(
    forgeable: ForgeableCompetition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harmless = Lie(name="the truth", tell=lambda log, judged: 0, says=("anything",))
    monkeypatch.setattr("tests.lies.LIES", (harmless,))
    key_folder(tmp_path / "ledger", LOG_SIGNER)
    (tmp_path / "competition.tar").write_bytes(forgeable.bundle.read_bytes())
    result = CliRunner().invoke(lies.main, [str(tmp_path)])
    assert result.exit_code == 1, result.output
    assert "the truth: exit status 0" in result.output


def test_only_a_log_with_competitions_has_one_to_choose(
    honest: DishonestLog, tmp_path: Path
) -> None:
    none = verified(DishonestLog().bundle(tmp_path / "none.tar"))
    assert none.exit_code == 3, none.output
    assert "missing: competition: no competitions are called " in none.output
    assert "' in the log\n" in none.output
    log = honest.bundle(tmp_path / "bundle.tar")
    other = " ".join(verified(log, "--competition", "other").output.split())
    assert "no competitions are called 'other' in the log; it has: " in other
    assert "; choose one with --competition" in other


@attack("P12", layer="cli", ends="the missing name is reported: exit status 2")
def test_a_liar_that_is_not_named_is_told(tmp_path: Path) -> None:
    liar = ""

    def lie(name: str, entrant: str, text: str) -> int:
        bits = ENTRANTS[entrant] * len(text.encode())
        return bits * 3 // 4 if name == liar else bits

    log = DishonestLog(millibits=lie).play("reveal")
    liar = log.scorers[2]
    log.score()
    due = log.outcome()

    def hidden(one: JudgedEvaluation) -> JudgedEvaluation:
        return msgspec.structs.replace(one, is_outlier=False, outside=0)

    places = tuple(
        msgspec.structs.replace(one, evaluators=tuple(map(hidden, one.evaluators)))
        for one in due.places
    )
    entry = log.decide(msgspec.structs.replace(due, places=places))
    refused(log, tmp_path, entry, "of entrant alpha", to_text(log.key(liar))[:10])


@attack("C2", layer="cli", ends="the archive is not the one that was sealed: exit status 2")
def test_an_archive_that_was_swapped_is_told(tmp_path: Path) -> None:
    log = DishonestLog().play()
    other = DishonestLog(texts=("Another text. " * 20, *TEXTS[1:]))
    archive = digest_from_text(log.rules.sealed.archive)
    log.blobs[archive] = other.blobs[digest_from_text(other.rules.sealed.archive)]
    refused(
        log, tmp_path, log.view.phase_starts[next(iter(log.view.phase_starts))].index, "was sealed"
    )


def test_a_draw_before_its_date_is_told(tmp_path: Path) -> None:
    log = DishonestLog().play("lots")
    log.now_ms = DEADLINE + HOUR_MS // 2
    entry = log.draw_now()
    refused(log, tmp_path, entry, "comp.draw", "too-early")


def test_scores_of_other_weights_than_were_submitted_are_told(tmp_path: Path) -> None:
    log = DishonestLog().play("reveal")
    log.submissions["beta"] = folder_of("another")
    entry = log.evaluate(log.scorers[0], "beta")
    refused(log, tmp_path, entry, "eval.result", "wrong-scores")


def test_an_entrant_that_evaluates_is_told(tmp_path: Path) -> None:
    log = DishonestLog().play("enter")
    log.signers["eva"] = log.signer("alpha")
    before = len(log.log.leaves)
    log.play_on("offer")
    refused(log, tmp_path, before, "eval.offer", "not-eligible")


def test_a_share_of_another_key_is_told(tmp_path: Path) -> None:
    log = DishonestLog().play("draw")
    log.shares[0] = dataclasses.replace(log.shares[0], value=bytes(32))
    entry = log.show_share(0)
    refused(log, tmp_path, entry, "comp.reveal", "wrong-share")


def test_totals_that_are_not_those_of_the_documents_are_told(tmp_path: Path) -> None:
    log = DishonestLog().play("score")
    last = Entry.parse(log.log.leaves[-1]).statement.body
    assert isinstance(last, EvalResult)
    log.remove_last()
    entry = log.log_statement(
        log.scorers[-1], msgspec.structs.replace(last, millibits=last.millibits - 1)
    )
    refused(log, tmp_path, entry, "eval.result", "wrong-scores")


def test_a_forged_signature_is_told_though_the_log_signed_it(tmp_path: Path) -> None:
    log = DishonestLog().play()
    index = log.index_of("eval.result")
    log.forge(index)
    refused(log, tmp_path, index, "eval.result", "signature")


def test_an_entry_that_was_changed_in_a_bundle_does_not_make_the_root(tmp_path: Path) -> None:
    log = DishonestLog().play()
    note = log.signed_note()
    log.forge(log.index_of("eval.result"))
    result = verified(log.bundle(tmp_path / "bundle.tar", note))
    assert result.exit_code == 2
    assert "do not make the root that the log signed" in result.output


def test_a_checkpoint_that_the_log_did_not_sign_is_told(
    honest: DishonestLog, tmp_path: Path
) -> None:
    note = sign_checkpoint(honest.log.checkpoint(), COORDINATOR)
    result = verified(honest.bundle(tmp_path / "bundle.tar", note))
    assert result.exit_code == 2
    assert "mismatch: checkpoint" in result.output


def test_no_byte_of_a_bundle_can_be_changed_unseen(honest: DishonestLog, tmp_path: Path) -> None:
    path = honest.bundle(tmp_path / "bundle.tar")
    whole, chance = path.read_bytes(), Random(6)
    for _ in range(40):
        at, bit = chance.randrange(len(whole)), 1 << chance.randrange(8)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
        found = verify(VerifyOptions.of(str(path)), NoProgress())
        assert found.report.exit_code in (2, 3), f"byte {at}"


def test_scores_of_one_model_may_be_published_before_those_of_another_are_committed_to(
    tmp_path: Path,
) -> None:
    log = DishonestLog().play("reveal")
    for entrant in ("alpha", "beta"):
        for step in (log.commit, log.evaluate):
            for name in log.scorers:
                step(name, entrant)
    log.play_on("result")
    result = verified(log.bundle(tmp_path / "bundle.tar"))
    assert result.exit_code == 0, result.output
    assert (
        "they committed to 6 evaluations, those of each model before any of that model was "
        "published, and published 6"
    ) in result.output


# --- what cannot be told


@pytest.mark.parametrize("sent", ["all", "half", "half in chunks", "half of no stated size"])
def test_an_archive_whose_download_was_cut_off_is_no_forgery(sent: str) -> None:
    log = DishonestLog()
    archive = log.blobs[digest_from_text(log.rules.sealed.archive)]
    body = archive if sent == "all" else archive[: len(archive) // 2]

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Send what the test asks for, then hang up."""
            self.send_response(200)
            if sent == "half in chunks":
                self.send_header("transfer-encoding", "chunked")
            elif sent != "half of no stated size":
                self.send_header("content-length", str(len(archive)))
            self.end_headers()
            self.wfile.write(b"%x\r\n" % len(archive) if sent == "half in chunks" else b"")
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Be silent."""

    async def check_live() -> Result:
        async with memory_log.serving(log.log) as ledger:
            ledger.blobs = log.blobs
            page = f"{ledger.url}/competitions/{log.name}"
            return await trio.to_thread.run_sync(verified, page)

    with serving(Server) as url:
        log.rules = msgspec.structs.replace(log.rules, archive=f"{url}/set.sealed")
        log.put(log.rules.encode())
        log.play()
        result = trio.run(check_live)
    assert result.exit_code == (0 if sent == "all" else 3), result.output
    assert ("missing: sealed archive" in result.output) is (sent != "all")


def test_a_bundle_that_was_cut_off_is_incomplete(honest: DishonestLog, tmp_path: Path) -> None:
    path = honest.bundle(tmp_path / "bundle.tar")
    whole = path.read_bytes()
    for length in (0, 700, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        result = verified(path)
        assert result.exit_code == 3, result.output
        assert "cut off" in result.output


def test_a_document_that_is_missing_makes_it_incomplete(tmp_path: Path) -> None:
    log = DishonestLog().play()
    outcome = log.view.outcome
    assert outcome is not None
    del log.blobs[outcome]
    assert verified(log.bundle(tmp_path / "bundle.tar")).exit_code == 3


def test_a_competition_that_goes_on_is_incomplete_and_says_so(tmp_path: Path) -> None:
    result = verified(DishonestLog().play("draw").bundle(tmp_path / "bundle.tar"))
    assert result.exit_code == 3
    assert "0 of the 2 shares needed are revealed" in result.output


def test_a_policy_whose_witnesses_are_missing_makes_it_incomplete(
    honest: DishonestLog, tmp_path: Path
) -> None:
    vkey = memory_log.genesis().log_key
    witness = "witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs"
    policy = tmp_path / "policy"
    bundle = honest.bundle(tmp_path / "bundle.tar")
    policy.write_text(POLICY.format(log=vkey, witness=witness))
    assert verified(bundle, "--trust", policy).exit_code == 3
    policy.write_text(f"log {vkey}\nquorum none\n")
    assert verified(bundle, "--trust", policy).exit_code == 0
    policy.write_text(f"log {OTHER_LOG}\nquorum none\n")
    assert verified(bundle, "--trust", policy).exit_code == 2, "a log that nobody trusts"


@pytest.mark.whole
def test_the_policy_that_is_listed_with_a_network_counts_for_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with WitnessGroup(tmp_path, 1) as group:
        policy = group.policy("1")
        with cosigned(group, policy) as ledger:
            wait_until_published(ledger, policy, 1)
            listed = KnownNetwork(name="net", url=ledger.url, policy=policy.read_text())
            networks.add_network(listed)
            late_ms = time.time_ns() // 1_000_000 + 3 * STALE_S * 1000
            monkeypatch.setattr(clock, "now_ms", lambda: late_ms)
            result = verified(f"{ledger.url}/competitions/{'A' * 43}")
    assert result.exit_code == 3
    assert "checkpoint 1 of ledger.example/test for the last time 72 hours ago" in result.output


def test_a_ledger_that_is_away_or_has_another_competition_is_incomplete(
    honest: DishonestLog, tmp_path: Path
) -> None:
    assert verified(memory_log.unused_url()).exit_code == 3
    bundle = honest.bundle(tmp_path / "bundle.tar")
    result = verified(bundle, "--competition", "Sunny days")
    assert result.exit_code == 3
    assert "Rainy days 2026" in result.output


@pytest.mark.parametrize(
    "asked",
    [
        ("no-such-file.tar",),
        ("http://",),
        ("{bundle}", "--rescore", "0"),
        ("{bundle}", "--model", "alpha"),
        ("{bundle}", "--no-such-option"),
        ("{bundle}", "--trust", "{bundle}"),
        (),
    ],
)
def test_what_is_not_asked_rightly_has_its_own_status(
    honest: DishonestLog, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    bundle = honest.bundle(tmp_path / "bundle.tar")
    result = CliRunner().invoke(verify_competition, [one.format(bundle=bundle) for one in asked])
    assert result.exit_code == 2, result.output
