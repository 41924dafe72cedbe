"""Heads are published while a run goes on: one every N rounds, and the last."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING

import msgspec
import pytest
from huggingface_hub import constants

from tequio_client.checkpoint import export, layout, publish
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.hub import Hub, disable_progress
from tequio_client.checkpoint.layout import HeadClaim
from tequio_client.checkpoint.publish import is_due
from tequio_client.runtime import locked
from tequio_client.verify.report import NoProgress
from tequio_shared.errors import UserFacingError
from tequio_shared.keys import Signer
from tests.client.verify.logs import SwarmLog
from tests.support.equivocators import key_folder
from tests.support.hub import FakeHub, running
from tests.support.llama_swarm import ROUNDS, measure, play, played, served_log

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.checkpoint.layout import PublishedRevision
    from tests.support.llama_swarm import ServedLog

pytestmark = pytest.mark.filterwarnings(
    "ignore:Use 'content=<...>' to upload raw bytes:DeprecationWarning"  # the Hub's client does
)


@pytest.fixture(autouse=True)
def _by_plain_http(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Set the Hub's client up for a server here, with a cache of its own."""
    disable_progress()
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))


def options_of(
    site: ServedLog,
    folder: Path,
    *stores: Path,
    organisers: Sequence[Path] = (),
    is_measured: bool = False,
) -> publish.PublishOptions:
    """Publish heads of that ledger from these stores; `folder` has room for the work."""
    return publish.PublishOptions(
        folder=folder / "work",
        location="ana/maize",
        origin=WeightsOrigin(ledger=site.url, stores=stores),
        organisers=tuple(organisers),
        is_measured=is_measured,
    )


def never_pause(_: float) -> None:
    raise AssertionError("it tries again, or waits")


@pytest.mark.parametrize(
    ("head", "published", "is_finished", "due"),
    [
        (0, set(), False, False),
        (9, set(), False, False),
        (10, set(), False, True),
        (12, set(), False, True),
        (12, {10}, False, False),
        (19, {12}, False, False),
        (21, {12}, False, True),
        (21, {12}, True, True),
        (13, {12}, True, True),
        (12, {12}, True, False),
        (0, set(), True, True),
        (13, {10, 20}, False, False),
        (13, {10, 20}, True, True),
        (10, {10, 20}, True, False),
    ],
)
def test_a_head_is_due_when_a_multiple_was_passed_or_the_run_has_ended(
    head: int,
    published: set[int],
    is_finished: bool,  # noqa: FBT001 - a column of the table
    due: bool,  # noqa: FBT001 - as above
) -> None:
    assert is_due(head, published, 10, is_finished=is_finished) is due


def test_a_finished_runs_last_head_is_published_after_what_failed_and_the_program_ends(
    site: ServedLog, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        assert len(pauses) < 9, "it never ends"
        if len(pauses) == 2:
            played().store(store, ROUNDS)

    store.mkdir()
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub:
        wish = options_of(site, tmp_path, store)
        publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url), pause)
        there = hub.repositories["ana/maize"]
        assert there.tags == {f"round-{ROUNDS}": there.main}
        assert len(pauses) == 2, "two tries failed for want of the weights"
        assert pauses[1] > 0
        assert not (tmp_path / "work" / f"round-{ROUNDS}").exists()
        publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url), pause)
        assert len(there.commits) == 2, "nothing is published twice"


def test_a_published_head_is_logged_once_the_ledger_takes_its_statement(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[tuple[int, bool]] = []

    def log_later(
        _ledger: str, claim: HeadClaim, published: PublishedRevision, _organisers: Sequence[Path]
    ) -> int:
        tries.append((claim.round, published.is_new))
        if len(tries) == 1:
            raise UserFacingError("the ledger does not answer")
        return 7

    monkeypatch.setattr(publish, "log_publication", log_later)
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub:
        wish = options_of(
            site,
            tmp_path,
            played().store(tmp_path / "store", ROUNDS),
            organisers=(key_folder(tmp_path / "organiser", played().swarm.organiser),),
        )
        pauses: list[float] = []
        publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url), pauses.append)
    assert tries == [(ROUNDS, True), (ROUNDS, False)]
    assert len(pauses) == 1
    assert list((tmp_path / "work").iterdir()) == []


def test_an_export_whose_head_the_log_has_forgotten_is_given_up(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten, tries = ROUNDS - 2, list[int]()

    def log_newest(_ledger: str, claim: HeadClaim, *_: object) -> int:
        tries.append(claim.round)
        if claim.round == forgotten:
            raise publish.WrongHeadError("round 1 has no promoted head that is still known")
        return 7

    monkeypatch.setattr(publish, "log_publication", log_newest)
    store = played().store(tmp_path / "store", forgotten, ROUNDS)
    organiser = key_folder(tmp_path / "organiser", played().swarm.organiser)
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub:
        wish = options_of(site, tmp_path, store, organisers=(organiser,))
        left = export.ExportOptions(
            origin=wish.origin,
            run="maize- 1.0",
            round=forgotten,
            target=wish.folder / f"round-{forgotten}",
        )
        wish.folder.mkdir()
        export.export_head(left, NoProgress())
        publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url), never_pause)
        assert f"round-{ROUNDS}" in hub.repositories["ana/maize"].tags
    assert tries == [forgotten, ROUNDS]
    assert list(wish.folder.iterdir()) == []


def test_an_export_that_was_damaged_is_made_again(
    site: ServedLog, whole: Path, tmp_path: Path
) -> None:
    left = shutil.copytree(whole, tmp_path / "work" / f"round-{ROUNDS}")
    (left / layout.SOURCE_CONFIG).write_bytes(b"{}")
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub:
        wish = options_of(site, tmp_path, played().store(tmp_path / "store", ROUNDS))
        publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url), never_pause)
        there = hub.repositories["ana/maize"]
        due = (whole / layout.SOURCE_CONFIG).read_bytes()
        assert there.commits[there.main][layout.SOURCE_CONFIG] == due
    assert not left.exists()


def test_an_unfinished_export_of_a_head_that_was_passed_over_goes(
    site: ServedLog, tmp_path: Path
) -> None:
    played().store(tmp_path / "work" / ".round-1.part" / "fetched", 1)
    (tmp_path / "work" / ".round-1.part").chmod(0o700)
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub:
        wish = options_of(site, tmp_path, played().store(tmp_path / "store", ROUNDS))
        publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url), never_pause)
        assert set(hub.repositories["ana/maize"].tags) == {f"round-{ROUNDS}"}
    assert list((tmp_path / "work").iterdir()) == []


def test_a_ledger_that_is_away_and_an_organisers_folder_in_use_are_waited_for(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "log_publication", lambda *_: 7)
    monkeypatch.setattr(site, "lie", lambda path: b"" if path.endswith("/network") else None)
    organiser = key_folder(tmp_path / "organiser", played().swarm.organiser)
    in_use = ExitStack()
    in_use.enter_context(locked(organiser))
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            site.lie = lambda _: None
        elif len(pauses) == 3:
            in_use.close()

    with running(FakeHub(tokens={"hf_a": "ana"})) as hub:
        wish = options_of(
            site, tmp_path, played().store(tmp_path / "store", ROUNDS), organisers=(organiser,)
        )
        publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url), pause)
        assert set(hub.repositories["ana/maize"].tags) == {f"round-{ROUNDS}"}
    assert len(pauses) == 3


def test_heads_are_not_followed_by_those_who_are_no_organisers(
    site: ServedLog, tmp_path: Path
) -> None:
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub:
        wish = options_of(
            site, tmp_path, organisers=(key_folder(tmp_path / "stranger", Signer(bytes([9]) * 32)),)
        )
        with pytest.raises(UserFacingError, match="is not an organiser of the network"):
            publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url), never_pause)


def test_a_mistyped_folder_of_an_organiser_is_told_although_the_ledger_is_away(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "lie", lambda _: b"")
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub:
        wish = options_of(site, tmp_path, organisers=(tmp_path / "typo",))
        with pytest.raises(UserFacingError, match=r"no key in .*typo"):
            publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url), never_pause)


def test_an_export_of_another_run_is_not_published(site: ServedLog, tmp_path: Path) -> None:
    left = tmp_path / "work" / "round-1" / layout.CLAIM
    left.parent.mkdir(parents=True)
    other = "A" * 43
    claim = HeadClaim(network=other, run=other, round=1, head=other, weights_root=other, entry=0)
    left.write_bytes(claim.encode())
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub:
        wish = options_of(site, tmp_path, played().store(tmp_path / "store", ROUNDS))
        publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url))
        assert set(hub.repositories["ana/maize"].tags) == {f"round-{ROUNDS}"}
    assert left.exists()


def test_the_last_head_of_a_run_that_went_back_is_published_after_one_that_was_given_up(
    site: ServedLog, whole: Path, tmp_path: Path
) -> None:
    claim = HeadClaim.parse((whole / layout.CLAIM).read_bytes())
    given_up = msgspec.structs.replace(claim, round=ROUNDS + 4)
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub:
        there = hub.put("ana/maize", {layout.CLAIM: given_up.encode()})
        there.tags[f"round-{given_up.round}"] = there.main
        wish = options_of(site, tmp_path, played().store(tmp_path / "store", ROUNDS))
        publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url))
        assert there.tags[f"round-{ROUNDS}"] == there.main
        assert HeadClaim.parse(there.commits[there.main][layout.CLAIM]) == claim


def test_the_newest_fine_head_is_published_and_the_last_one_once_it_has_a_verdict(
    tmp_path: Path,
) -> None:
    run, fine = play(measured=ROUNDS - 1), ROUNDS - 1
    pauses: list[float] = []
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub, served_log(SwarmLog(run.swarm)) as site:

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            assert set(hub.repositories["ana/maize"].tags) == {f"round-{fine}"}
            if len(pauses) == 2:
                measure(run.swarm, ROUNDS)
                site.log = SwarmLog(run.swarm)

        options = options_of(
            site, tmp_path, run.store(tmp_path / "store", fine, ROUNDS), is_measured=True
        )
        publish.follow_run(options, "maize- 1.0", 2, Hub("hf_a", hub.url), pause)
        assert set(hub.repositories["ana/maize"].tags) == {f"round-{fine}", f"round-{ROUNDS}"}
        assert pauses == [publish.POLL_S] * 2


def test_a_last_head_that_nobody_measures_ends_the_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "VERDICT_POLLS", 3)
    run, fine = play(measured=ROUNDS - 1), ROUNDS - 1
    pauses: list[float] = []
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub, served_log(SwarmLog(run.swarm)) as site:
        options = options_of(site, tmp_path, run.store(tmp_path / "store", fine), is_measured=True)
        publish.follow_run(options, "maize- 1.0", 50, Hub("hf_a", hub.url), pauses.append)
        assert set(hub.repositories["ana/maize"].tags) == {f"round-{fine}"}
        assert len(pauses) == 3
