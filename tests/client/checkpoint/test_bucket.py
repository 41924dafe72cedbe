"""Publishing in a bucket, on a server that speaks S3 and checks keys and their rights."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec
import obstore
import pytest
from obstore.store import S3Store

from tequio_client.checkpoint import layout, publish
from tequio_client.checkpoint.bucket import BucketLocation, HeadIndex, S3Bucket
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.layout import HeadClaim, PublishedRevision
from tequio_client.verify.report import NoProgress
from tequio_shared.errors import MalformedError, UserFacingError
from tests.support import object_store
from tests.support.llama_swarm import ROUNDS
from tests.support.small_disk import SmallDisk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.support.llama_swarm import ServedLog

TAG = f"round-{ROUNDS}"
QUICK = {"max_retries": 0}


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with object_store.served_or_skipped() as environment:
        yield environment | object_store.key_with_rights(environment, "s3:*")


@pytest.fixture
def reader(server: dict[str, str]) -> dict[str, str]:
    """The environment of a key that may read, and not write."""
    return server | object_store.key_with_rights(server, "s3:Get*", "s3:List*")


@pytest.fixture
def place(tmp_path: Path) -> str:
    return f"s3://{object_store.BUCKET}/{tmp_path.name}/nova"


@pytest.fixture
def claim(whole: Path) -> HeadClaim:
    return HeadClaim.parse((whole / layout.CLAIM).read_bytes())


def bucket(environment: Mapping[str, str], cache: Path) -> S3Bucket:
    return S3Bucket(environment, cache, retries=QUICK)


def put(
    environment: Mapping[str, str], folder: Path, claim: HeadClaim, place: str
) -> tuple[PublishedRevision, list[str]]:
    reported = list[str]()
    storage = bucket(environment, folder.parent / "cache")
    done = storage.publish(folder, claim, place, is_private=False, report=reported.append)
    return done, reported


def store(environment: Mapping[str, str], place: str) -> S3Store:
    """The objects below a location, as another client sees them."""
    found = BucketLocation.parse(place)
    return S3Store(
        found.name,
        prefix=found.prefix,
        endpoint=environment["AWS_ENDPOINT_URL"],
        region="us-east-1",
        access_key_id=environment["AWS_ACCESS_KEY_ID"],
        secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        client_options={"allow_http": True},
    )


def objects(environment: Mapping[str, str], place: str) -> dict[str, bytes]:
    seen = store(environment, place)
    names = [str(one["path"]) for page in obstore.list(seen) for one in page]
    return {name: obstore.get(seen, name).bytes().to_bytes() for name in names}


def files_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in layout.visible_names(folder)}


def test_a_head_has_a_folder_of_its_own_and_an_index_that_names_it(
    server: dict[str, str], whole: Path, claim: HeadClaim, place: str
) -> None:
    done, reported = put(server, whole, claim, place)
    there = objects(server, place)
    raw = there.pop(f"{TAG}.json")
    assert done.revision == hashlib.sha256(raw).hexdigest()
    assert done.location == f"{place}?endpoint={server['AWS_ENDPOINT_URL']}&region=us-east-1"
    assert (done.tag, done.is_new) == (TAG, True)
    folder = f"{TAG}-{done.revision[:16]}"
    assert there == {f"{folder}/{name}": one for name, one in files_of(whole).items()}
    assert len(reported) == len(there)
    assert HeadIndex.parse(raw).claim == claim
    assert bucket(server, whole).published_rounds(place) == {ROUNDS}


def test_publishing_again_changes_nothing(
    server: dict[str, str], folder: Path, claim: HeadClaim, place: str
) -> None:
    first, _ = put(server, folder, claim, place)
    before = objects(server, place)
    (folder / layout.CARD).write_text("another card, of a later export")
    again, reported = put(server, folder, claim, place)
    assert (again.revision, again.is_new, reported) == (first.revision, False, [])
    assert objects(server, place) == before


def test_an_interrupted_upload_is_invisible_and_goes_on_with_the_next_file(
    server: dict[str, str], whole: Path, claim: HeadClaim, place: str, tmp_path: Path
) -> None:
    class CutOffError(Exception):
        pass

    def stop(name: str) -> None:
        if layout.WEIGHTS in name:
            raise CutOffError

    cache = tmp_path / "cache"
    with pytest.raises(CutOffError):
        bucket(server, cache).publish(whole, claim, place, is_private=False, report=stop)
    seen = store(server, place)
    sent = {str(one["path"]): one for page in obstore.list(seen) for one in page}
    assert 0 < len(sent) < len(files_of(whole))
    assert bucket(server, cache).published_rounds(place) == set()
    with pytest.raises(UserFacingError, match="has no published head"):
        bucket(server, cache).download(place, None)
    done, _ = put(server, whole, claim, place)
    assert done.is_new
    later = {str(one["path"]): one for page in obstore.list(seen) for one in page}
    assert {name: later[name] for name in sent} == sent, "not sent again"
    assert bucket(server, cache).download(place, TAG).name == done.revision


def test_an_object_with_other_content_is_found_before_the_head_is_visible(
    server: dict[str, str], whole: Path, claim: HeadClaim, place: str
) -> None:
    revision = hashlib.sha256(HeadIndex.of(whole, claim).encode()).hexdigest()
    size = (whole / layout.CONFIG).stat().st_size
    obstore.put(store(server, place), f"{TAG}-{revision[:16]}/{layout.CONFIG}", b"x" * size)
    with pytest.raises(UserFacingError, match=r"config\.json came back .* with other content"):
        put(server, whole, claim, place)
    assert bucket(server, whole).published_rounds(place) == set()


def test_what_comes_back_is_the_head_and_goes_on_where_it_stopped(
    server: dict[str, str], whole: Path, claim: HeadClaim, place: str, tmp_path: Path
) -> None:
    done, _ = put(server, whole, claim, place)
    target = tmp_path / "head"
    target.mkdir()
    part = target / f".{layout.WEIGHTS}.part"
    part.write_bytes((whole / layout.WEIGHTS).read_bytes()[:1000])
    storage = bucket(server, tmp_path / "cache")
    assert storage.download(place, None, target) == target
    assert files_of(target) == files_of(whole)
    assert not part.exists()
    part.write_bytes(b"wrong")
    (target / layout.WEIGHTS).unlink()
    with pytest.raises(MalformedError, match="is not the file that its index names"):
        storage.download(place, TAG, target)
    assert storage.download(place, f"{TAG}@{done.revision}", target) == target
    assert files_of(target) == files_of(whole)


def test_without_a_revision_the_head_published_last_comes_also_after_a_rollback(
    server: dict[str, str],
    whole: Path,
    claim: HeadClaim,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given_up = msgspec.structs.replace(claim, round=ROUNDS + 7)
    put(server, whole, given_up, place)
    put(server, whole, claim, place)
    list_all, last = obstore.list_with_delimiter, f"{TAG}.json"

    def dated(store: S3Store) -> dict[str, object]:
        """Put an hour between the two, which were written in the same second."""
        listed = list_all(store)
        for one in listed["objects"]:
            one["last_modified"] += timedelta(hours=one["path"] == last)
        return {**listed}

    monkeypatch.setattr(obstore, "list_with_delimiter", dated)
    storage = bucket(server, tmp_path / "cache")
    assert storage.download(place, None) == storage.download(place, TAG)
    last = f"round-{given_up.round}.json"
    assert storage.download(place, None) == storage.download(place, f"round-{given_up.round}")


def test_a_disk_that_fills_during_a_download_is_said(
    server: dict[str, str],
    whole: Path,
    claim: HeadClaim,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put(server, whole, claim, place)
    disk, target = SmallDisk(tmp_path / "disk"), tmp_path / "disk" / "head"
    storage = bucket(server, tmp_path / "cache")
    try:
        disk.fill([os.getpid()])
        with pytest.raises(UserFacingError, match=r"free some space, or choose another folder$"):
            storage.download(place, TAG, target)
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 60))
            with pytest.raises(UserFacingError, match=rf"disk of {tmp_path / 'disk'} is full"):
                storage.download(place, TAG, target)
        disk.empty([os.getpid()])
        assert files_of(storage.download(place, TAG, target)) == files_of(whole)
    finally:
        disk.unmount()


def test_a_file_comes_in_pieces_none_of_which_is_longer_than_a_request_may_ask_for(
    server: dict[str, str],
    whole: Path,
    claim: HeadClaim,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put(server, whole, claim, place)
    asked, get_range = list[int](), obstore.get_range

    def recorded(store: S3Store, key: str, *, start: int, length: int) -> obstore.Bytes:
        asked.append(length)
        return get_range(store, key, start=start, length=length)

    size = (whole / layout.WEIGHTS).stat().st_size
    monkeypatch.setattr(obstore, "get_range", recorded)
    monkeypatch.setattr("tequio_client.checkpoint.bucket._CHUNK_BYTES", size // 2)
    target = tmp_path / "head"
    target.mkdir()
    bucket(server, tmp_path / "cache").download(place, None, target)
    assert files_of(target) == files_of(whole)
    assert max(asked) == size // 2


def test_an_index_that_was_replaced_is_not_the_published_one(
    server: dict[str, str], whole: Path, claim: HeadClaim, place: str, tmp_path: Path
) -> None:
    done, _ = put(server, whole, claim, place)
    other = msgspec.structs.replace(HeadIndex.of(whole, claim), files=())
    obstore.put(store(server, place), f"{TAG}.json", other.encode())
    with pytest.raises(MalformedError, match="was replaced"):
        bucket(server, tmp_path).download(place, f"{TAG}@{done.revision}")


@pytest.mark.parametrize(
    "path", ["../config.json", "/etc/config.json", "tequio/../../x", "pytorch_model.bin", ".x"]
)
def test_an_index_with_files_of_no_export_is_refused(
    server: dict[str, str], whole: Path, claim: HeadClaim, place: str, tmp_path: Path, path: str
) -> None:
    raw = json.loads(HeadIndex.of(whole, claim).encode())
    raw["files"][0]["path"] = path
    text = json.dumps(raw, sort_keys=True, separators=(",", ":")).encode()
    obstore.put(store(server, place), f"{TAG}.json", text)
    with pytest.raises(MalformedError):
        bucket(server, tmp_path / "cache").download(place, TAG)
    assert not (tmp_path / "cache").exists()


def test_a_prefix_of_another_run_or_head_is_left_alone(
    server: dict[str, str], whole: Path, claim: HeadClaim, place: str
) -> None:
    index = HeadIndex.of(whole, claim)
    for other, said in (
        (msgspec.structs.replace(claim, run="A" * 43), "has heads of another run"),
        (msgspec.structs.replace(claim, entry=0), "is of another head"),
    ):
        raw = msgspec.structs.replace(index, claim=other).encode()
        obstore.put(store(server, place), f"{TAG}.json", raw)
        with pytest.raises(UserFacingError, match=said):
            put(server, whole, claim, place)
    obstore.put(store(server, place), f"{TAG}.json", b"{}")
    with pytest.raises(UserFacingError, match="is not an index of a head"):
        put(server, whole, claim, place)


# --- keys, rights, and places that are not there


def refusal(environment: Mapping[str, str], whole: Path, claim: HeadClaim, place: str) -> str:
    with pytest.raises(UserFacingError) as caught:
        put(environment, whole, claim, place)
    said = str(caught.value)
    secret = environment.get("AWS_SECRET_ACCESS_KEY")
    assert not secret or secret not in said
    assert "\n" not in said
    return said


def test_a_key_without_the_right_to_write_is_told_so_and_can_read(
    server: dict[str, str],
    reader: dict[str, str],
    whole: Path,
    claim: HeadClaim,
    place: str,
    tmp_path: Path,
) -> None:
    said = refusal(reader, whole, claim, place)
    assert f"does not allow writing to {place}" in said
    assert "AWS_ACCESS_KEY_ID" in said
    put(server, whole, claim, place)
    found = bucket(reader, tmp_path / "cache").download(place, TAG)
    assert files_of(found) == files_of(whole)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"AWS_ACCESS_KEY_ID": "nobody"}, "does not accept the key .*InvalidAccessKeyId"),
        ({"AWS_SECRET_ACCESS_KEY": "mistyped"}, "does not accept the key .*SignatureDoesNotMatch"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "connection to .* failed"),
    ],
)
def test_a_wrong_key_and_a_service_that_is_away_are_named(
    server: dict[str, str],
    whole: Path,
    claim: HeadClaim,
    place: str,
    change: dict[str, str],
    says: str,
) -> None:
    assert re.search(says, refusal(server | change, whole, claim, place))


def test_without_a_key_the_variables_are_named(
    server: dict[str, str],
    whole: Path,
    claim: HeadClaim,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Where a computer of AWS would answer which role it has, nothing listens.
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9")
    keyless = {name: one for name, one in server.items() if "KEY" not in name}
    keyless["AWS_SHARED_CREDENTIALS_FILE"] = str(tmp_path / "none")
    said = refusal(keyless, whole, claim, place)
    assert said.startswith(f"no key for {place}")
    assert "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE" in said


def test_the_key_may_be_in_the_file_that_aws_configure_writes(
    server: dict[str, str], whole: Path, claim: HeadClaim, place: str, tmp_path: Path
) -> None:
    file = tmp_path / "credentials"
    keyless = {name: one for name, one in server.items() if "KEY" not in name}
    keyless |= {"AWS_SHARED_CREDENTIALS_FILE": str(file), "AWS_PROFILE": "models"}
    names = ("aws_access_key_id", "aws_secret_access_key")
    lines = [f"{name} = {server[name.upper()]}" for name in names]
    file.write_text("\n".join(["[models]", *lines, "[default]", "aws_access_key_id = nobody"]))
    assert put(keyless, whole, claim, place)[0].is_new
    file.write_text("no file of keys")
    assert "is not a file of keys" in refusal(keyless, whole, claim, place)


def test_a_bucket_that_is_not_there_is_named(
    server: dict[str, str], whole: Path, claim: HeadClaim
) -> None:
    said = refusal(server, whole, claim, "s3://no-such-bucket/nova")
    assert f"there is no bucket no-such-bucket at {server['AWS_ENDPOINT_URL']}" in said
    assert "?endpoint=" in said


@pytest.mark.parametrize(
    "place", ["gs://bucket/nova", "s3://", "s3://bucket/a b", "s3://bucket/n?endpoint=ftp://h"]
)
def test_a_location_that_is_none_is_refused(
    server: dict[str, str], whole: Path, claim: HeadClaim, place: str
) -> None:
    said = refusal(server, whole, claim, place)
    assert f"invalid location {place!r}" in said
    assert "s3://bucket/prefix" in said


def test_a_private_repository_is_for_the_hub_alone(
    server: dict[str, str], whole: Path, claim: HeadClaim, place: str
) -> None:
    with pytest.raises(UserFacingError, match="--private is for the Hub"):
        bucket(server, whole).publish(whole, claim, place, is_private=True, report=print)


def test_a_service_that_the_environment_does_not_name_is_read_without_the_key(
    server: dict[str, str], whole: Path, claim: HeadClaim, place: str, tmp_path: Path
) -> None:
    done, _ = put(server, whole, claim, place)
    elsewhere = server | {"AWS_ENDPOINT_URL": "https://s3.example"}
    storage = bucket(elsewhere, tmp_path / "cache")
    with object_store.public_bucket(server) as open_up:
        with pytest.raises(UserFacingError, match="does not allow reading"):
            storage.download(done.location, TAG)
        open_up()
        assert files_of(storage.download(done.location, TAG)) == files_of(whole)


@pytest.mark.parametrize(
    "text",
    [
        "s3://a-bucket",
        "s3://a.bucket/nova/2026",
        "s3://a-bucket?region=eu-central-1",
        "s3://a-bucket/nova?endpoint=http://127.0.0.1:9000/storage/v1&region=auto",
    ],
)
def test_a_location_is_written_as_it_was_read(text: str) -> None:
    assert str(BucketLocation.parse(text)) == text


def test_the_environment_completes_a_location_for_others(tmp_path: Path) -> None:
    own = {"AWS_ENDPOINT_URL": "https://s3.example/", "AWS_DEFAULT_REGION": "auto"}
    completed = S3Bucket(own, tmp_path).completed
    assert str(completed("s3://nova")) == "s3://nova?endpoint=https://s3.example&region=auto"
    other = "s3://nova?endpoint=https://other.example"
    assert str(completed(other)) == other


# --- the commands, and what follows a run


def command(environment: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tequio_client", "checkpoint", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_commands_publish_and_verify_a_head_in_a_bucket(
    server: dict[str, str],
    whole: Path,
    site: ServedLog,
    place: str,
    tmp_path: Path,
) -> None:
    environment = {**object_store.inherited(), **server, "XDG_DATA_HOME": str(tmp_path)}
    words = ("publish", str(whole), "--to", place, "--without-statement", "--ledger", site.url)
    done = command(environment, *words)
    assert done.returncode == 0, done.stderr
    assert re.search(rf"{place}\?endpoint=\S+: {TAG} is [0-9a-f]{{64}}", done.stdout)
    assert server["AWS_SECRET_ACCESS_KEY"] not in done.stdout + done.stderr
    location = done.stdout.partition(": ")[0]
    done = command(environment, "verify", location, "--ledger", site.url)
    assert (done.returncode, "verified" in done.stdout) == (0, True), done.stderr
    (weights,) = (one for one in objects(server, place) if one.endswith(layout.WEIGHTS))
    size = (whole / layout.WEIGHTS).stat().st_size
    obstore.put(store(server, place), weights, b"x" * size)
    done = command(
        {**environment, "XDG_DATA_HOME": str(tmp_path / "other")},
        *("verify", location, "--revision", TAG, "--ledger", site.url),
    )
    assert done.returncode == 2, done.stderr
    assert "is not the file that its index names" in done.stdout


def test_the_heads_of_a_run_are_followed_into_a_bucket(
    server: dict[str, str], whole: Path, site: ServedLog, place: str, tmp_path: Path
) -> None:
    store_folder = whole.parent / "store"
    options = publish.PublishOptions(
        folder=tmp_path / "work",
        location=place,
        origin=WeightsOrigin(ledger=site.url, stores=(store_folder,)),
    )
    storage = bucket(server, tmp_path / "cache")
    publish.follow_run(options, "maize- 1.0", 2, storage, lambda _: pytest.fail("it failed"))
    assert storage.published_rounds(place) == {ROUNDS}
    found = storage.download(place, None)
    origin = WeightsOrigin(ledger=site.url)
    checked = publish.PublishOptions(folder=found, location=place, origin=origin)
    assert publish.verify_folder(checked, NoProgress()).round == ROUNDS
