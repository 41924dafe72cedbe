"""Ledgers that lie to somebody who wants the newest head, without reading the whole log."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import msgspec
import pytest
import trio

from tequio_client import clock
from tequio_client.checkpoint import chat, layout, proven
from tequio_client.checkpoint.export import ExportOptions, WeightsOrigin
from tequio_client.checkpoint.proven import prove_head
from tequio_client.ledger import api as ledger_api
from tequio_client.ledger import runs
from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser import verdicts
from tequio_client.verify.report import NoProgress
from tequio_client.worker.ledger import follower
from tequio_shared.api.runs import RollbackAnswer
from tequio_shared.errors import PeerError, UserFacingError, first_error
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.log.merkle import leaf_hash
from tequio_shared.log.notes import (
    Checkpoint,
    KeyKind,
    VerifierKey,
    add_lines,
    cosignature_line,
    note_text,
)
from tequio_shared.log.policy import STALE_S, Policy, TlogProof
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile, encode_bundle
from tequio_shared.statements.runs import HeadPromote
from tequio_shared.statements.statement import Entry
from tests.client.verify.logs import SwarmLog
from tests.support.attack_table import attack
from tests.support.llama_swarm import ROUNDS, ServedLog, played, served_log
from tests.support.memory_swarm import rollback_to
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_client.checkpoint.proven import CertifiedHead

PATIENCE_S = 60


@pytest.fixture
def site() -> Iterator[ServedLog]:
    """The log of a run that was played, served by a ledger that may lie."""
    with served_log(SwarmLog(played().swarm)) as one:
        yield one


def prove(site: ServedLog, number: int = ROUNDS, **changes: object) -> CertifiedHead:
    """Prove the head of a round, with other fields in the list of runs."""

    async def main() -> CertifiedHead:
        with trio.fail_after(PATIENCE_S):
            async with LedgerApi(site.url) as api:
                (run,) = await api.runs()
                return await prove_head(api, msgspec.structs.replace(run, **changes), number)

    return trio.run(main)


def newest(site: ServedLog, folder: Path, run: str = "", trust: Policy | None = None) -> Path:
    """The newest head, as `tequio chat` and `tequio checkpoint serve` get it."""
    store = folder / "store"
    if not store.exists():
        played().store(store, *range(ROUNDS + 1))
    origin = WeightsOrigin(ledger=site.url, stores=[store], also_seeds=True, trust=trust)
    wanted = run or site.log.swarm.manifest.name
    options = ExportOptions(origin=origin, run=wanted, target=folder / "cache")
    return chat.newest_model(options, NoProgress())


def refusal(site: ServedLog, folder: Path, run: str = "") -> str:
    """The sentence that somebody reads who wants the newest head."""
    with pytest.raises((UserFacingError, PeerError, BaseExceptionGroup)) as caught:
        newest(site, folder, run)
    return str(first_error(caught.value))


def promotions(log: SwarmLog) -> list[int]:
    """Indices of the entries that promote a head, the first one's too."""
    entries = enumerate(log.swarm.entries)
    return [index for index, one in entries if isinstance(one.statement.body, HeadPromote)]


def rounds_in(site: ServedLog, answer: Callable[[int, int], list[dict[str, object]]]) -> None:
    """Let the ledger answer rows of rounds, of (after, limit), with fields of a true one."""
    path = f"/v1/runs/{to_text(site.log.swarm.manifest.run_id)}/rounds"
    true = msgspec.json.decode(site.log.answer(f"{path}?after=0&limit=1") or b"")

    def lie(asked: str) -> bytes | None:
        where, _, query = asked.partition("?")
        if where != path:
            return None
        given = dict(parse_qsl(query))
        rows = answer(int(given["after"]), int(given["limit"]))
        shown = [true["rounds"][0] | row for row in rows]
        return msgspec.json.encode({**true, "rounds": shown, "next": None})

    site.lie = lie


@attack("M14", layer="mdl", ends="refused after a number of pages: none of the rounds opened")
def test_a_list_of_rounds_without_end_is_given_up(
    site: ServedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_MOST_PAGES", 3)
    rounds_in(
        site,
        lambda after, limit: [
            {"round": after + at, "opened_index": None} for at in range(1, limit + 1)
        ],
    )
    with pytest.raises(PeerError, match="none of which opened"):
        prove(site)


@attack("M14", layer="mdl", ends="refused: the rounds do not ascend")
def test_the_same_page_of_rounds_again_and_again_is_refused(site: ServedLog) -> None:
    rounds_in(site, lambda _, limit: [{"round": 5, "opened_index": None}] * limit)
    with pytest.raises(PeerError, match="the rounds do not ascend"):
        prove(site)


@attack("M14", layer="mdl", ends="read up to the end of the signed log, and no further")
@pytest.mark.parametrize("opened", [1 << 30, JSON_INTEGER])
def test_a_round_that_opens_far_beyond_the_log_costs_nothing(site: ServedLog, opened: int) -> None:
    rounds_in(site, lambda after, _: [{"round": after + 1, "opened_index": opened}])
    found = prove(site, ROUNDS - 1)
    assert found.head.round == ROUNDS - 1
    assert site.log.size > found.entry


@attack("M14", layer="mdl", ends="given up after a number of bundles, with a way to read all")
def test_a_head_that_is_not_where_the_ledger_points_is_given_up(
    site: ServedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_MOST_PAGES", 2)
    site.log.leaves += [b"an entry of a ledger that fills its log"] * 1_024
    site.log.sign()
    rounds_in(site, lambda after, _: [{"round": after + 1, "opened_index": site.log.size}])
    asked = len(site.requests)
    with pytest.raises(UserFacingError, match="tequio audit"):
        prove(site)
    assert sum("/log/tile/entries/" in one for one in site.requests[asked:]) < 8


@attack("M14", layer="mdl", ends="refused: the list does not end")
@pytest.mark.parametrize("what", ["runs", "quarantine", "invitations"])
def test_a_list_without_end_is_given_up(
    site: ServedLog, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(ledger_api, "_MOST_PAGES", 3, raising=False)
    row = "peers" if what == "quarantine" else what
    as_of = msgspec.to_builtins(site.log.as_of())

    def lie(asked: str) -> bytes | None:
        where, _, query = asked.partition("?")
        if where != f"/v1/{what}":
            return None
        after = int(dict(parse_qsl(query))["after"])
        return msgspec.json.encode({row: [], "next": after + 1, "as_of": as_of})

    site.lie = lie

    async def main() -> object:
        with trio.fail_after(PATIENCE_S):
            async with LedgerApi(site.url) as api:
                return await getattr(api, what)()

    with pytest.raises(PeerError, match=f"the list of {what} does not end"):
        trio.run(main)


@attack("M14", layer="mdl", ends="refused: the heads end with another round than the run")
def test_measured_heads_without_end_are_given_up(site: ServedLog) -> None:
    path = f"/v1/runs/{to_text(site.log.swarm.manifest.run_id)}/measures"
    true = msgspec.json.decode(site.log.answer(f"{path}?after=-1&limit=9") or b"")
    row = {**true["heads"][0], "measures": []}

    def lie(asked: str) -> bytes | None:
        where, _, query = asked.partition("?")
        if where != path:
            return None
        after, limit = (int(dict(parse_qsl(query))[name]) for name in ("after", "limit"))
        rows = [{**row, "round": after + at} for at in range(1, limit + 1)]
        return msgspec.json.encode({**true, "heads": rows, "next": rows[-1]["round"]})

    site.lie = lie

    async def main() -> object:
        with trio.fail_after(PATIENCE_S):
            async with LedgerApi(site.url) as api:
                return await verdicts.VerdictReader(name=played().manifest.name).read(api)

    with pytest.raises(PeerError, match="the measured heads do not end with round"):
        trio.run(main)


@attack("M15", layer="log", ends="refused: the log is older than the one that was seen here")
def test_an_older_log_does_not_take_somebody_back_to_an_older_head(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "LAG_S", 1.0)
    found = newest(site, tmp_path)
    end = 1 + promotions(site.log)[1]
    site.log = SwarmLog(played().swarm)
    site.log.leaves = site.log.leaves[: end + 2]
    site.log.sign()
    site.head_round = 1
    said = refusal(site, tmp_path)
    assert "do not trust" in said
    assert f"has size {end + 2} with root" in said
    assert found.is_dir(), "the newer head stays"
    assert list((tmp_path / "cache" / chat.HEADS / "alarms").glob("*.json"))


@attack("M15", layer="log", ends="refused: the log has a newer head")
@pytest.mark.parametrize("is_known", [False, True])
def test_an_older_head_of_the_same_log_is_found_out_at_the_first_visit(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_known: bool
) -> None:
    monkeypatch.setattr(proven, "_PAUSES_S", (0.0,))
    site.head_round = 1
    if is_known:
        site.log.leaves = site.log.leaves[: 1 + promotions(site.log)[1]]
        site.log.sign()
        newest(site, tmp_path)
        site.log = SwarmLog(played().swarm)
    said = refusal(site, tmp_path)
    assert f"names the head of round 1 as the newest one of {played().manifest.name}" in said
    assert "its log has that of round 2 after it: do not trust it" in said


@attack("M15", layer="log", ends="refused: an entry is not the one in the log")
@pytest.mark.parametrize("also_hashes", [False, True])
def test_newer_heads_cannot_be_hidden_from_somebody_who_looks_for_them(
    site: ServedLog, tmp_path: Path, *, also_hashes: bool
) -> None:
    shown = list(site.log.leaves)
    for index in promotions(site.log)[2:]:
        shown[index] = shown[0]
    hashes = [leaf_hash(leaf) for leaf in shown]

    def lie(path: str) -> bytes | None:
        if not path.startswith("/log/tile/"):
            return None
        asked = Tile.parse(path.removeprefix("/log/"))
        span = slice(asked.index * TILE_WIDTH, asked.index * TILE_WIDTH + asked.width)
        if asked.level == BUNDLE_LEVEL:
            return encode_bundle(shown[span])
        return b"".join(hashes[span]) if also_hashes and asked.level == 0 else None

    site.head_round, site.lie = 1, lie
    why = "the proof leads to" if also_hashes else "is not the one whose hash is in the log"
    assert why in refusal(site, tmp_path)


def test_a_list_of_runs_that_is_a_moment_old_raises_no_alarm(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proven, "_PAUSES_S", (0.0,))
    site.head_round, asked = 1, 0

    def lie(path: str) -> bytes | None:
        nonlocal asked
        asked += path.startswith("/v1/runs?")
        site.head_round = 1 if asked < 2 else ROUNDS
        return None

    site.lie = lie
    assert newest(site, tmp_path).name.endswith(f"-{ROUNDS}")
    assert asked == 3, "twice for the newest head, and once to prove it"


def test_rounds_that_end_between_two_questions_raise_no_alarm(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each list of runs is of the moment before another head is promoted."""
    monkeypatch.setattr(proven, "_PAUSES_S", (0.0,))
    whole, turns = list(site.log.leaves), promotions(site.log)
    named = 0

    def lie(path: str) -> bytes | None:
        nonlocal named
        if path.startswith("/v1/runs?"):
            named += 1
            site.head_round = named
        elif path == "/log/checkpoint":
            site.log.leaves = whole[: 1 + turns[min(named + 1, ROUNDS)]]
            site.log.sign()
        return None

    site.lie = lie
    assert newest(site, tmp_path).name.endswith("-2"), "the newest one when first asked"


def test_a_run_that_went_back_to_an_older_head_has_that_one(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rollback counts if it is in the log, goes to the head named, and has no head after it."""
    monkeypatch.setattr(proven, "_PAUSES_S", ())
    swarm, index = site.log.swarm, 1 + promotions(site.log)[-1]
    draft = StatementDraft(rollback_to(swarm.view.heads[1], ROUNDS))
    back = swarm.sign(swarm.organiser, draft, swarm.manifest.run_id)
    site.log.leaves[index:] = [back.leaf()]
    site.log.sign()
    site.head_round = 1
    assert "its log has that of round 2 after it" in refusal(site, tmp_path)
    site.rollbacks = (RollbackAnswer(head_round=1, last_round=ROUNDS, index=index),)
    assert newest(site, tmp_path).name.endswith("-1")
    site.rollbacks = (RollbackAnswer(head_round=1, last_round=ROUNDS, index=index - 1),)
    assert "its log has that of round 2 after it" in refusal(site, tmp_path)
    site.head_round, site.rollbacks = ROUNDS, ()
    assert "its log has that of round 1 after it" in refusal(site, tmp_path)


def test_a_cache_that_serves_an_older_checkpoint_for_a_moment_raises_no_alarm(
    site: ServedLog, tmp_path: Path
) -> None:
    older = site.log.signed_note()
    site.log.leaves.append(site.log.leaves[-1])
    site.log.sign()
    found = newest(site, tmp_path)
    served = 0

    def lie(path: str) -> bytes | None:
        nonlocal served
        if path != "/log/checkpoint" or served == 2:
            return None
        served += 1
        return older

    site.lie = lie
    assert newest(site, tmp_path) == found
    assert served == 2
    assert not (tmp_path / "cache" / chat.HEADS / "alarms").exists()


@attack("M15", layer="log", ends="refused: the two logs contradict each other")
@pytest.mark.parametrize("shown", [1, 2])
def test_two_logs_shown_one_after_the_other_are_noticed(
    site: ServedLog, tmp_path: Path, shown: int
) -> None:
    """Also within one search, after the first checkpoint or after the second one."""
    promoted = promotions(site.log)
    other = SwarmLog(played().swarm)
    other.leaves[promoted[-1]] = other.leaves[promoted[0]]  # validly signed, another head's
    other.leaves.append(other.leaves[-1])
    other.sign()
    asked = 0

    def lie(path: str) -> bytes | None:
        nonlocal asked
        asked += path == "/log/checkpoint"
        if asked > shown and site.log is not other:
            site.log = other
        return None

    site.lie = lie
    if shown == 1:
        assert "do not trust" in refusal(site, tmp_path)
    else:
        found = newest(site, tmp_path)
        proof = TlogProof.parse((found / layout.PROOF).read_bytes())
        entry = Entry.parse(proof.extra or b"")
        assert isinstance(entry.statement.body, HeadPromote)
        assert "do not trust" in refusal(site, tmp_path)


@attack("M16", layer="mdl", ends="refused: the run's rules have another name")
def test_a_run_that_is_listed_by_the_name_of_another_one_is_found_out(
    site: ServedLog, tmp_path: Path
) -> None:
    def rename(path: str) -> bytes | None:
        if not path.startswith("/v1/runs?"):
            return None
        answer = msgspec.json.decode(site.answer(path) or b"")
        answer["runs"][0]["name"] = "quinoa"
        return msgspec.json.encode(answer)

    site.lie = rename
    assert "its rules name it 'maize- 1.0'" in refusal(site, tmp_path, "quinoa")
    site.lie = lambda _: None
    newest(site, tmp_path)
    site.lie = rename
    assert "its rules name it 'maize- 1.0'" in refusal(site, tmp_path, "quinoa")


WITNESS = Signer(bytes(32))


def cosigned_by_witness(site: ServedLog) -> Policy:
    """The policy of somebody who wants the log cosigned by one witness."""
    witness = VerifierKey(name="w", kind=KeyKind.COSIGNER, key=WITNESS.key)
    log_key = site.log.swarm.genesis.log_key
    return Policy.parse(f"log {log_key}\nwitness w {witness.text()}\nquorum w\n".encode())


@attack("M15", layer="log", ends="refused with `--trust`: no witness cosigned it within a day")
def test_an_older_log_is_found_out_at_the_first_visit_by_the_times_of_its_cosignatures(
    site: ServedLog, tmp_path: Path
) -> None:
    signed = site.log.newest_note
    checkpoint = Checkpoint.parse(note_text(signed))

    def cosign(age_s: int) -> None:
        line = cosignature_line(checkpoint, "w", WITNESS, clock.now_ms() // 1_000 - age_s)
        site.log.newest_note = add_lines(signed, [line])

    policy = cosigned_by_witness(site)
    cosign(age_s=STALE_S + 60)
    with pytest.raises(UserFacingError, match="newer entries are withheld"):
        newest(site, tmp_path, trust=policy)
    cosign(age_s=STALE_S - 600)
    newest(site, tmp_path, trust=policy)


@attack("M15", layer="log", ends="refused: the checkpoint lacks the cosignatures")
@pytest.mark.parametrize("find", [verdicts.find_fine_head, verdicts.find_published])
def test_a_head_is_not_chosen_by_a_log_that_nobody_cosigned(
    site: ServedLog, find: Callable[[str, str, Policy], object]
) -> None:
    """With `--trust`, also where `--measured` or `--head` choose the round."""
    name = site.log.swarm.manifest.name
    with pytest.raises((UserFacingError, BaseExceptionGroup)) as caught:
        find(name, site.url, cosigned_by_witness(site))
    assert "lacks the quorum 'w'" in str(first_error(caught.value))
