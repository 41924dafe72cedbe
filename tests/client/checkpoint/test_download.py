"""Published heads are found in the log by their aliases, downloaded and verified."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import obstore
import pytest
import trio
from click.testing import CliRunner, Result

from tequio_client.__main__ import cli
from tequio_client.checkpoint import download, export, gguf, layout, publish
from tequio_client.checkpoint.bucket import BucketLocation, S3Bucket
from tequio_client.checkpoint.download import DownloadOptions
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.layout import HeadClaim, PublishedRevision
from tequio_client.ledger import runs
from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser import verdicts
from tequio_client.verify.report import NoProgress
from tequio_shared.errors import PeerError, UserFacingError, first_error
from tequio_shared.ids import to_text
from tests.client.checkpoint.test_bucket import bucket, files_of, store
from tests.client.verify.logs import SwarmLog
from tests.support import object_store
from tests.support.equivocators import key_folder
from tests.support.ledgers import ORGANISER, make_settings, served
from tests.support.llama_swarm import ROUNDS, play, publication, served_log
from tests.support.llama_swarm import publish as publish_in
from tests.support.sample_ledger import ASTRAY, MEASURED, fill_astray

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.ledgers import Served
    from tests.support.llama_swarm import LlamaRun, ServedLog

NAME, TINY = "nova-350m", "maize- 1.0"
IN_BUCKET = "s3://nova/heads?endpoint=https://s3.example&region=auto"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A ledger whose newest head is worse than the one before it; three are published."""
    folder = tmp_path_factory.mktemp("published")
    begun_ms = time.time_ns() // 1_000_000 - 30_000
    fill_astray(make_settings(folder / "ledger"), begun_ms, worse=[ASTRAY])
    organiser = key_folder(folder / "organiser", ORGANISER)
    with served(folder / "ledger") as running:
        for number in range(MEASURED, ASTRAY + 1, MEASURED):
            _publish(running, organiser, number)
        yield running


def _publish(ledger: Served, organiser: Path, number: int) -> None:
    async def claim() -> HeadClaim:
        async with LedgerApi(ledger.url) as api:
            run = runs.find_run(NAME, await api.runs())
            head = (await runs.find_promotion(api, run, number)).body
            return HeadClaim(
                network=to_text((await api.network()).id),
                run=run.run,
                round=number,
                head=head.head,
                weights_root=head.weights_root,
                entry=0,
            )

    is_last = number == ASTRAY
    done = PublishedRevision(
        location=IN_BUCKET if is_last else "ana/nova",
        revision=("0c" * 32)[: 64 if is_last else 40],
        tag=f"round-{number}",
        is_new=True,
    )
    publish.log_publication(ledger.url, trio.run(claim), done, [organiser])


def test_aliases_follow_from_publications_and_measures_in_the_log(ledger: Served) -> None:
    found = verdicts.find_published(NAME, ledger.url)
    rounds = [ASTRAY, ASTRAY - MEASURED, ASTRAY - 2 * MEASURED]
    assert [one.round for one in found.heads] == rounds
    assert (found.aliases.latest, found.aliases.best) == (ASTRAY, ASTRAY - MEASURED)
    (latest,), (best,) = found.find("latest"), found.find("best")
    assert (latest.round, latest.location) == (ASTRAY, IN_BUCKET)
    assert (best.round, best.location) == (ASTRAY - MEASURED, "ana/nova")
    assert found.find(str(MEASURED))[0].round == MEASURED


def test_without_figures_or_publications_no_head_has_the_alias(ledger: Served) -> None:
    found = verdicts.find_published(NAME, ledger.url)
    with pytest.raises(UserFacingError, match=f"no published head of {NAME} is measured by enough"):
        replace(found, measured={}).find("best")
    with pytest.raises(UserFacingError, match=f"no head of {NAME} is published yet"):
        replace(found, heads=()).find("latest")


@pytest.mark.parametrize("head", ["newest", "99", "", "٤"])
def test_a_head_that_is_not_published_is_refused_with_those_that_are(
    ledger: Served, head: str
) -> None:
    with pytest.raises(UserFacingError) as caught:
        verdicts.find_published(NAME, ledger.url).find(head)
    assert str(caught.value).startswith(f"invalid head {head!r} of {NAME}")
    assert str(caught.value).endswith(f"{MEASURED}, {ASTRAY - MEASURED}, {ASTRAY}")


def test_a_ledger_that_reports_another_place_than_the_log_is_found_out(ledger: Served) -> None:
    async def read() -> None:
        async with LedgerApi(ledger.url) as api:
            runs = [
                msgspec.structs.replace(
                    one,
                    published=[
                        msgspec.structs.replace(head, location="eve/nova", revision="0" * 40)
                        for head in one.published
                    ],
                )
                for one in await api.runs()
            ]

            async def lie() -> list[object]:
                return list(runs)

            api.runs = lie  # type: ignore[method-assign,assignment]  # a ledger that lies
            await verdicts.read_published(NAME, api)

    with pytest.raises((PeerError, BaseExceptionGroup)) as caught:
        trio.run(read)
    error = first_error(caught.value)
    assert "is not the publication that the ledger reports" in str(error)


class WithoutClaim:
    """Repositories that have lost the file that says which head they are."""

    def __init__(self, _location: str) -> None:
        """One serves all."""

    def download(self, _location: str, _revision: str, folder: Path) -> Path:
        folder.mkdir(parents=True)
        return folder


def test_when_a_place_has_lost_the_claim_the_next_one_is_asked(
    ledger: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = verdicts.find_published(NAME, ledger.url)
    (one,) = found.find(str(MEASURED))
    twice = (one, msgspec.structs.replace(one, location="ben/nova", revision="0" * 40))
    monkeypatch.setattr(
        verdicts, "find_published", lambda *_: replace(found, heads=(*found.heads, *twice[1:]))
    )
    options = DownloadOptions(
        origin=WeightsOrigin(ledger=ledger.url),
        run=NAME,
        head=str(MEASURED),
        target=tmp_path / "head",
    )
    storage: Any = WithoutClaim
    lost = r"not verified: it has no tequio/claim\.json \(No such file or directory\)"
    with pytest.raises(UserFacingError, match=rf"^ana/nova: {lost}; ben/nova: {lost}$"):
        download.download_head(options, storage, lambda _: None, NoProgress())
    assert [one.name for one in (tmp_path / ".head.part").iterdir()] == ["lock"]


# --- from a bucket, through the command


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with object_store.served_or_skipped() as environment:
        yield environment | object_store.key_with_rights(environment, "s3:*")


@pytest.fixture(scope="module")
def run() -> LlamaRun:
    return play()


@pytest.fixture(scope="module")
def whole(run: LlamaRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The last head, exported."""
    folder = tmp_path_factory.mktemp("export")
    with served_log(SwarmLog(run.swarm)) as site:
        origin = WeightsOrigin(ledger=site.url, stores=[run.store(folder / "store", ROUNDS)])
        wish = export.ExportOptions(origin=origin, run=TINY, target=folder / "out")
        export.export_head(wish, NoProgress())
    return folder / "out"


@pytest.fixture(scope="module")
def published(server: dict[str, str], run: LlamaRun, whole: Path) -> PublishedRevision:
    """The last head in a bucket, as the log states it."""
    claim = HeadClaim.parse((whole / layout.CLAIM).read_bytes())
    storage = S3Bucket(server, whole.parent / "cache")
    place = f"s3://{object_store.BUCKET}/downloads"
    done = storage.publish(whole, claim, place, is_private=False, report=lambda _: None)
    body = msgspec.structs.replace(
        publication(run, ROUNDS), location=done.location, revision=done.revision
    )
    publish_in(run, ROUNDS, body)
    return done


@pytest.fixture
def site(run: LlamaRun, published: PublishedRevision) -> Iterator[ServedLog]:
    assert published.is_new
    with served_log(SwarmLog(run.swarm)) as one:
        yield one


def ran(server: dict[str, str], site: ServedLog, target: Path, *words: str) -> Result:
    command = ("checkpoint", "download", "--run", TINY, "--to", str(target), "--ledger", site.url)
    return CliRunner().invoke(cli, (*command, *words), env=server)


def test_the_command_downloads_the_latest_head_and_verifies_it(
    server: dict[str, str], site: ServedLog, whole: Path, tmp_path: Path
) -> None:
    done = ran(server, site, tmp_path / "head")
    assert done.exit_code == 0, done.exception
    assert f"verified, head of round {ROUNDS}" in done.output
    assert files_of(tmp_path / "head") == files_of(whole)
    assert [one.name for one in tmp_path.iterdir()] == ["head"], "nothing else is left"
    again = ran(server, site, tmp_path / "head")
    assert "is there already" in str(first_error(again.exception or ValueError()))


def test_after_a_full_disk_the_same_command_downloads_the_head_and_its_copy(
    server: dict[str, str], site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_no_room(_: dict[str, Any]) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(gguf, "pre_tokenizer", find_no_room)
        why = ran(server, site, tmp_path / "head", "--gguf").exception
    assert "is full: free some space and run this again" in str(first_error(why or ValueError()))
    assert not (tmp_path / "head").exists()
    done = ran(server, site, tmp_path / "head", "--gguf")
    assert done.exit_code == 0, done.exception
    assert {one.name for one in tmp_path.iterdir()} == {"head", "head.gguf"}


def test_the_best_head_is_downloaded_and_an_unknown_one_is_refused(
    server: dict[str, str], site: ServedLog, tmp_path: Path
) -> None:
    done = ran(server, site, tmp_path / "head", "--head", "best")
    assert f"verified, head of round {ROUNDS}" in done.output
    done = ran(server, site, tmp_path / "other", "--head", "1")
    assert "invalid head '1'" in str(first_error(done.exception or ValueError()))


def test_an_interrupted_download_goes_on_and_wrong_weights_are_not_the_head(
    server: dict[str, str],
    site: ServedLog,
    whole: Path,
    published: PublishedRevision,
    tmp_path: Path,
) -> None:
    key = f"{published.tag}-{published.revision[:16]}/{layout.WEIGHTS}"
    seen = store(server, str(BucketLocation.parse(published.location)))
    right = (whole / layout.WEIGHTS).read_bytes()
    options = DownloadOptions(
        origin=WeightsOrigin(ledger=site.url), run=TINY, head="latest", target=tmp_path / "head"
    )

    def get() -> None:
        download.download_head(
            options, lambda _: bucket(server, tmp_path), lambda _: None, NoProgress()
        )

    obstore.delete(seen, key)
    try:
        with pytest.raises(UserFacingError, match="a file of this head is missing"):
            get()
        part = tmp_path / ".head.part" / published.revision
        fetched = {one.name: one.stat().st_mtime_ns for one in part.iterdir() if one.is_file()}
        assert layout.CONFIG in fetched
        obstore.put(seen, key, right[:-1] + bytes([right[-1] ^ 1]))
        with pytest.raises(UserFacingError, match="is not the file that its index names"):
            get()
        assert not options.target.exists()
    finally:
        obstore.put(seen, key, right)
    get()
    assert files_of(options.target) == files_of(whole)
    assert (options.target / layout.CONFIG).stat().st_mtime_ns == fetched[layout.CONFIG]
