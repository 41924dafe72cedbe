"""Publishing with the Hub's own client, against a server that speaks its protocol."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec
import pytest
from huggingface_hub import constants
from huggingface_hub.utils import _http

from tequio_client.checkpoint import hub as checkpoint_hub
from tequio_client.checkpoint import layout, publish
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.hub import Hub, disable_progress
from tequio_client.keys.state import IdentityError
from tequio_client.verify.report import NoProgress
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.keys import Signer
from tests.support.attack_table import attack
from tests.support.equivocators import key_folder
from tests.support.hub import FakeHub, running
from tests.support.llama_swarm import ROUNDS
from tests.support.small_disk import SmallDisk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.checkpoint.layout import PublishedRevision
    from tests.support.llama_swarm import ServedLog


pytestmark = pytest.mark.filterwarnings(
    "ignore:Use 'content=<...>' to upload raw bytes:DeprecationWarning"  # the Hub's client does
)
TOKEN = "hf_" + "a" * 34
REPO = "ana/maize"


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with running(FakeHub(tokens={TOKEN: "ana", "hf_other": "luis"})) as one:
        yield one


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By plain HTTP, into a cache of its own; the client's pauses between tries are skipped."""
    disable_progress()
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_http, "time", SimpleNamespace(sleep=lambda _: None))


def put(
    hub: FakeHub,
    folder: Path,
    site: ServedLog,
    *,
    user: str = TOKEN,
    repo: str = REPO,
    is_private: bool = False,
) -> PublishedRevision:
    origin = WeightsOrigin(ledger=site.url)
    wish = publish.PublishOptions(
        folder=folder, location=repo, origin=origin, is_private=is_private
    )
    claim = publish.verify_folder(wish, NoProgress())
    reported: list[str] = []
    done, entry = publish.publish_folder(wish, claim, Hub(user, hub.url), reported.append)
    assert entry is None
    assert bool(reported) is done.is_new
    return done


def refusal(hub: FakeHub, folder: Path, site: ServedLog, **how: str | bool) -> str:
    with pytest.raises(UserFacingError) as caught:
        put(hub, folder, site, **how)  # type: ignore[arg-type]  # names are checked by `put`
    said = str(caught.value)
    assert "\n" not in said
    assert TOKEN not in said
    return said


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        one.relative_to(folder).as_posix(): one.read_bytes()
        for one in folder.rglob("*")
        if one.is_file()
    }


def test_a_head_is_put_in_a_new_repository_with_a_tag_for_its_round(
    hub: FakeHub, whole: Path, site: ServedLog
) -> None:
    done = put(hub, whole, site)
    there = hub.repositories[REPO]
    assert (done.tag, done.revision, done.is_new) == (f"round-{ROUNDS}", there.main, True)
    assert there.tags == {f"round-{ROUNDS}": there.main}
    assert not there.is_private
    tree = there.commits[there.main]
    assert {name: tree[name] for name in files_of(whole)} == files_of(whole)
    assert len(hub.received) == 2, "weights and remainder"


def test_nothing_is_uploaded_if_those_who_would_log_it_are_no_organisers(
    hub: FakeHub, whole: Path, site: ServedLog, tmp_path: Path
) -> None:
    stranger = key_folder(tmp_path / "stranger", Signer(bytes([9]) * 32))
    wish = publish.PublishOptions(
        folder=whole,
        location=REPO,
        origin=WeightsOrigin(ledger=site.url),
        organisers=(stranger,),
    )
    claim = publish.verify_folder(wish, NoProgress())
    with pytest.raises(UserFacingError, match="is not an organiser of the network"):
        publish.publish_folder(wish, claim, Hub(TOKEN, hub.url), lambda _: None)
    assert hub.repositories == {}


def test_a_large_file_goes_in_pieces_when_the_hub_asks_for_them(
    hub: FakeHub, whole: Path, site: ServedLog
) -> None:
    hub.piece_bytes = 100_000
    put(hub, whole, site)
    tree = hub.repositories[REPO].commits[hub.repositories[REPO].main]
    assert tree[layout.WEIGHTS] == (whole / layout.WEIGHTS).read_bytes()
    assert len(hub.received) > 3


def test_publishing_again_changes_nothing(hub: FakeHub, whole: Path, site: ServedLog) -> None:
    first = put(hub, whole, site)
    sent = list(hub.received)
    again = put(hub, whole, site)
    assert (again.revision, again.is_new) == (first.revision, False)
    assert hub.received == sent


def test_what_comes_back_from_the_hub_is_the_head(
    hub: FakeHub, whole: Path, site: ServedLog
) -> None:
    put(hub, whole, site)
    found = Hub(None, hub.url).download(REPO, f"round-{ROUNDS}")
    assert {name: (found / name).read_bytes() for name in files_of(whole)} == files_of(whole)


@pytest.mark.filterwarnings("ignore:Not enough free disk space:UserWarning")  # of the Hub's client
def test_a_full_disk_is_said_and_not_blamed_on_the_connection(
    hub: FakeHub, whole: Path, site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(hub, whole, site)
    disk, target = SmallDisk(tmp_path / "disk"), tmp_path / "disk" / "head"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "disk" / "cache"))
    full = rf"^the disk of {tmp_path / 'disk'} is full: free some space"
    try:
        disk.fill([os.getpid()])
        for folder in (None, target):
            with pytest.raises(UserFacingError, match=full):
                Hub(None, hub.url).download(REPO, f"round-{ROUNDS}", folder)
        assert f"the disk of {tmp_path / 'disk'} is full" in refusal(hub, whole, site)
        disk.empty([os.getpid()])
        found = Hub(None, hub.url).download(REPO, f"round-{ROUNDS}", target)
        assert (found / layout.WEIGHTS).read_bytes() == (whole / layout.WEIGHTS).read_bytes()
    finally:
        disk.unmount()


@attack("M10", layer="cli", ends="a repository with such a file is refused, and nothing fetched")
@pytest.mark.parametrize("name", ["pytorch_model.bin", "added_tokens.json", "film.mp4"])
def test_a_repository_with_files_of_no_export_is_refused(
    hub: FakeHub, whole: Path, site: ServedLog, name: str
) -> None:
    put(hub, whole, site)
    there = hub.repositories[REPO]
    there.commit(there.commits[there.main] | {name: b"\x80", ".gitattributes": b""})
    with pytest.raises(MalformedError, match=f"{name} is not part of an export"):
        Hub(None, hub.url).download(REPO, None)


def test_a_cut_connection_is_tried_again(hub: FakeHub, whole: Path, site: ServedLog) -> None:
    hub.breaking = lambda _, tries: tries == 1
    assert put(hub, whole, site).is_new
    assert set(hub.tries.values()) == {2}


def test_an_upload_that_broke_for_good_goes_on_at_the_file_where_it_broke(
    hub: FakeHub, whole: Path, site: ServedLog
) -> None:
    broken: list[str] = []

    def second_file(oid: str, _: int) -> bool:
        if not broken and hub.large and oid not in hub.large:
            broken.append(oid)
        return oid in broken

    hub.breaking = second_file
    assert "run this again, and it goes on where it stopped" in refusal(hub, whole, site)
    assert hub.repositories[REPO].tags == {}
    assert layout.CLAIM not in hub.repositories[REPO].commits[hub.repositories[REPO].main]
    (sent,) = {oid for oid, _ in hub.received}
    hub.breaking = lambda _oid, _tries: False
    assert put(hub, whole, site).is_new
    assert [oid for oid, _ in hub.received].count(sent) == 1


def test_a_commit_whose_tag_was_cut_off_gets_it_without_another_commit(
    hub: FakeHub, whole: Path, site: ServedLog
) -> None:
    first = put(hub, whole, site)
    hub.repositories[REPO].tags.clear()
    again = put(hub, whole, site)
    assert (again.revision, again.is_new) == (first.revision, True)
    assert hub.repositories[REPO].tags == {first.tag: first.revision}


def test_a_wrong_token_is_said_and_not_shown(hub: FakeHub, whole: Path, site: ServedLog) -> None:
    said = refusal(hub, whole, site, user="hf_wrong")
    assert "does not accept the token" in said
    assert "hf_wrong" not in said


def test_another_ones_name_is_refused(hub: FakeHub, whole: Path, site: ServedLog) -> None:
    assert "no write access to ana/maize" in refusal(hub, whole, site, user="hf_other")


def test_a_token_for_one_repository_publishes_to_it_and_creates_none(
    hub: FakeHub, whole: Path, site: ServedLog
) -> None:
    hub.may_create = False
    there = hub.put(REPO, {".gitattributes": b""})
    assert put(hub, whole, site).is_new
    assert there.tags == {f"round-{ROUNDS}": there.main}
    assert "rights to create a model" in refusal(hub, whole, site, repo="ana/other")


def test_a_repository_with_something_else_in_it_is_left_alone(
    hub: FakeHub, whole: Path, site: ServedLog
) -> None:
    there = hub.put(REPO, {".gitattributes": b"", "config.json": b"{}"})
    before = there.main
    assert "has files that are not heads" in refusal(hub, whole, site)
    assert (there.main, hub.received) == (before, [])


def test_a_repository_of_another_run_is_left_alone(
    hub: FakeHub, whole: Path, site: ServedLog
) -> None:
    claim = layout.HeadClaim.parse((whole / layout.CLAIM).read_bytes())
    other = msgspec.structs.replace(claim, run="A" * 43)
    hub.put(REPO, {layout.CLAIM: other.encode()})
    assert "has heads of another run" in refusal(hub, whole, site)


def test_a_tag_that_is_another_head_is_not_moved(
    hub: FakeHub, whole: Path, site: ServedLog
) -> None:
    claim = layout.HeadClaim.parse((whole / layout.CLAIM).read_bytes())
    there = hub.put(REPO, {layout.CLAIM: msgspec.structs.replace(claim, entry=0).encode()})
    there.tags[f"round-{ROUNDS}"] = there.main
    assert f"the tag round-{ROUNDS} of {REPO} is not this head" in refusal(hub, whole, site)


def test_an_earlier_head_stays_under_its_tag_and_its_other_files_go(
    hub: FakeHub, whole: Path, site: ServedLog
) -> None:
    claim = layout.HeadClaim.parse((whole / layout.CLAIM).read_bytes())
    older = {
        layout.CLAIM: msgspec.structs.replace(claim, round=1).encode(),
        "model-00001-of-00002.safetensors": b"old",
    }
    there = hub.put(REPO, older)
    there.tags["round-1"] = there.main
    done = put(hub, whole, site)
    assert set(there.commits[done.revision]) == set(files_of(whole))
    assert there.commits[there.tags["round-1"]] == older
    assert Hub(TOKEN, hub.url).published_rounds(REPO) == {1, ROUNDS}


def test_a_private_repository_is_made_private_and_a_public_one_is_not_taken_for_it(
    hub: FakeHub, whole: Path, site: ServedLog
) -> None:
    put(hub, whole, site, repo="ana/hidden", is_private=True)
    assert hub.repositories["ana/hidden"].is_private
    put(hub, whole, site)
    assert "exists and is public" in refusal(hub, whole, site, is_private=True)


@pytest.mark.parametrize("name", ["ana/ma ize", "../x", "a/b/c"])
def test_a_name_that_is_none_is_refused(
    hub: FakeHub, whole: Path, site: ServedLog, name: str
) -> None:
    assert "invalid repository name" in refusal(hub, whole, site, repo=name)


def test_weights_that_are_not_the_head_are_not_sent(
    hub: FakeHub, folder: Path, site: ServedLog
) -> None:
    (folder / layout.CONFIG).write_text("{}")
    assert "not published: config.json was changed after the export" in refusal(hub, folder, site)
    assert hub.requests == []


def test_the_hub_away_is_said(whole: Path, site: ServedLog) -> None:
    with pytest.raises(UserFacingError, match="connection to the Hub failed"):
        put(FakeHub(url="http://127.0.0.1:9"), whole, site)


# --- the token, and the command


class MemoryKeyring:
    """A keyring in memory, or none at all."""

    def __init__(self, *, is_there: bool = True) -> None:
        self.kept: dict[str, bytes] = {}
        self.is_there = is_there

    def get(self, slot: str) -> bytes | None:
        """Return the stored key, or raise IdentityError without a keyring."""
        if not self.is_there:
            raise IdentityError("keyring-absent")
        return self.kept.get(slot)

    def put(self, slot: str, key: bytes) -> None:
        """Store the key."""
        self.kept[slot] = key


def test_the_token_is_that_of_the_environment_or_else_of_the_keyring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkpoint_hub, "get_token", lambda: None)
    keyring = MemoryKeyring()
    checkpoint_hub.store_token(f" {TOKEN}\n", keyring)  # type: ignore[arg-type]  # a keyring of the test
    assert checkpoint_hub.require_token({"HF_TOKEN": "hf_first"}, keyring) == "hf_first"  # type: ignore[arg-type]
    assert checkpoint_hub.require_token({}, keyring) == TOKEN  # type: ignore[arg-type]
    with pytest.raises(UserFacingError, match="tequio checkpoint token"):
        checkpoint_hub.require_token({}, MemoryKeyring(is_there=False))  # type: ignore[arg-type]
    with pytest.raises(UserFacingError, match="invalid token"):
        checkpoint_hub.store_token("two words", keyring)  # type: ignore[arg-type]


@contextmanager
def command(hub: FakeHub, *words: str) -> Iterator[subprocess.Popen[str]]:
    environment = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "tequio_client", "checkpoint", *words],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        yield process


def test_the_command_publishes_and_verifies_and_never_shows_the_token(
    hub: FakeHub, whole: Path, site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    options = ("--ledger", site.url)
    words = ("publish", str(whole), "--to", REPO, "--without-statement", *options)
    with command(hub, *words) as process:
        said = process.communicate(timeout=120)[0]
    assert process.returncode == 0, said
    assert f"{REPO}: round-{ROUNDS} is {hub.repositories[REPO].main}" in said
    assert TOKEN not in said
    assert TOKEN not in " ".join(words)
    with command(hub, "verify", REPO, "--revision", f"round-{ROUNDS}", *options) as process:
        said = process.communicate(timeout=120)[0]
    assert (process.returncode, "verified" in said) == (0, True), said
    assert f"revision there: {hub.repositories[REPO].main}" in said
    assert TOKEN not in said
