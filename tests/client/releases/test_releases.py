"""Releases, from the maintainers' keys to an installed version, over a real mirror."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from tequio_client.__main__ import cli
from tequio_client.ipc.releases import Fetching
from tequio_client.platform import versions
from tequio_client.platform.bundle import CHUNK_BYTES, decode_bundle, pack_folder
from tequio_client.platform.versions import TRUST_VARIABLE
from tequio_client.releases import cli as releases_cli
from tequio_client.releases import install, repository
from tequio_client.releases.install import installed_bundle
from tequio_client.releases.repository import ROLES
from tequio_shared.errors import MalformedError
from tequio_shared.version import BUILD
from tests.support.mirrors import NEWER, Mirror, package, served, tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.ipc.releases import ReleaseEvent

MOUNT, UMOUNT = "/usr/bin/mount", "/usr/bin/umount"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The maintainers' folder: keys, packages, and a mirror with this version."""
    folder = tmp_path_factory.mktemp("maintainers")
    made = Mirror(folder / "mirror", "", [])
    made.create(folder / "keys")
    app = package(folder / "app-old", "tequio")
    runtime = package(folder / "runtime-old", "tequio-runtime")
    made.publish(BUILD, ("app", "", app), ("runtime", "cpu", runtime))
    return folder


@pytest.fixture
def mirror(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A mirror with app and runtime of this version; the data folder is empty."""
    shutil.copytree(published, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(install, "_MARGIN_BYTES", 0)
    with served(tmp_path / "mirror") as made:
        made.keys = {role: repository.read_key(tmp_path / "keys" / role, None) for role in ROLES}
        monkeypatch.setenv(TRUST_VARIABLE, str(made.trust(tmp_path / "trust")))
        yield made


def publish_newer(mirror: Mirror, folder: Path, *, works: bool = True) -> None:
    app = package(folder / "app-new", "tequio", works=works, news=b"new")
    runtime = package(folder / "runtime-new", "tequio-runtime", news=b"new")
    mirror.publish(NEWER, ("app", "", app), ("runtime", "cpu", runtime))


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words, catch_exceptions=True)


def events(*words: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in run(*words, "--json").stdout.splitlines()]


def reason(*words: str) -> str:
    """The sentence with which a command fails."""
    last = events(*words)[-1]
    assert last["event"] == "failed", last
    return str(last["reason"])


def install_runtime() -> None:
    assert events("runtime", "install", "--for", "cpu")[-1]["event"] == "installed"


def test_a_runtime_is_fetched_tried_out_and_equal_to_what_was_published(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEQUIO_SEEN", str(tmp_path / "seen"))
    (tmp_path / "caches").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    offer, *progress, done = events("runtime", "install", "--for", "cpu")
    total = sum(path.stat().st_size for path in mirror.chunks())
    assert offer["runtime_bytes"] == total
    assert progress[0] == {"event": "fetching", "part": "runtime", "done": 0, "total": total}
    assert progress[-1]["done"] == total
    assert done == {"event": "installed", "version": BUILD, "is_update": False}
    assert tree(versions.folder_of("runtime", BUILD)) == tree(tmp_path / "runtime-old")
    assert "selftest cpu" in (tmp_path / "seen").read_text()
    assert not list((tmp_path / "caches").iterdir()), "the self-test leaves no caches"
    assert f"{BUILD}  cpu" in run("runtime", "status").stdout


def test_what_is_installed_is_not_fetched_again(mirror: Mirror) -> None:
    install_runtime()
    mirror.asked.clear()
    again = events("runtime", "install", "--for", "cpu")
    assert again[0].get("runtime_bytes", 0) == 0
    assert not [path for path in mirror.asked if "chunks" in path]


def test_an_update_brings_what_changed_with_its_runtime_and_starts_next_time(
    mirror: Mirror, tmp_path: Path
) -> None:
    install_runtime()
    assert run("update", "--check").stdout == f"{BUILD} is the newest version\n"
    publish_newer(mirror, tmp_path)
    mirror.asked.clear()
    done = events("update")[-1]
    assert done == {"event": "installed", "version": NEWER, "is_update": True}
    fetched = [path for path in mirror.asked if "chunks" in path]
    assert len(fetched) == 1, "the new file, which both packages have"
    shared = versions.folder_of("runtime", NEWER) / "lib" / "deep" / "common.so.1"
    assert shared.samefile(versions.folder_of("runtime", BUILD) / "lib" / "deep" / "common.so.1")
    assert tree(versions.folder_of("app", NEWER)) == tree(tmp_path / "app-new")
    assert versions.app_to_start(BUILD) == versions.program_of("app", NEWER)


def test_the_signed_list_of_networks_is_kept_and_carried(mirror: Mirror, tmp_path: Path) -> None:
    assert versions.proposed_networks() == b""
    listed = b'{"networks": [{"name": "open", "url": "https://ledger.example"}]}'
    mirror.repository.add([], BUILD, {versions.NETWORKS: listed})
    mirror.sign()
    mirror.trust(tmp_path / "trust")
    assert versions.proposed_networks() == listed
    run("update", "--check")
    (tmp_path / "trust" / versions.NETWORKS).unlink()
    assert versions.proposed_networks() == listed


def test_what_cannot_be_written_is_said(mirror: Mirror) -> None:
    mirror.repository.add([], BUILD, {versions.NETWORKS: b'{"networks": []}'})
    mirror.sign()
    (versions.releases_folder() / versions.NETWORKS / "in the way").mkdir(parents=True)
    where = f"cannot write to {versions.data_folder()} ("
    assert reason("update").startswith(where)
    assert str(run("update").exception).startswith(where)


def test_output_that_nobody_reads_is_no_full_disk(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(event: ReleaseEvent) -> None:
        if isinstance(event, Fetching):
            raise BrokenPipeError

    monkeypatch.setattr(releases_cli, "_write_event", write)
    done = run("runtime", "install", "--for", "cpu", "--json")
    assert isinstance(done.exception, BrokenPipeError)


def test_a_version_that_fails_its_selftest_is_not_used(mirror: Mirror, tmp_path: Path) -> None:
    publish_newer(mirror, tmp_path, works=False)
    assert "no card of mine" in reason("update")
    assert versions.app_to_start(BUILD) is None
    assert not versions.folder_of("app", NEWER).exists()


@pytest.mark.parametrize("is_busy", [True, False])
def test_a_selftest_that_hangs_fails_and_one_that_computes_may_take_long(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_busy: bool
) -> None:
    monkeypatch.setattr(install, "_HUNG_S", 2)
    monkeypatch.setattr(install, "_WORK_S", 0.01)
    app = package(tmp_path / "app-new", "tequio")
    work = "while [ $(date +%s) -lt $until ]; do :; done" if is_busy else "sleep 60"
    (app / "tequio").write_text(f"#!/bin/sh\nuntil=$(($(date +%s) + 6))\n{work}\n")
    mirror.publish(NEWER, ("app", "", app))
    if is_busy:
        assert events("update")[-1]["event"] == "installed"
    else:
        assert "its self-test hangs" in reason("update")


def test_going_back_lasts_until_a_newer_version_comes(mirror: Mirror, tmp_path: Path) -> None:
    publish_newer(mirror, tmp_path)
    events("update")
    assert run("update", "--back").stdout == f"{BUILD} is installed\n"
    assert versions.app_to_start(BUILD) is None
    assert events("update", "--check")[0]["was_skipped"] is True
    assert "none to go back from" in reason("update", "--back")


def test_going_back_beyond_the_first_update_ends_at_the_installed_program(
    mirror: Mirror, tmp_path: Path
) -> None:
    publish_newer(mirror, tmp_path)
    events("update")
    versions.switch_to(NEWER, running="")
    assert run("update", "--back").stdout == "the original version is installed\n"


# What a mirror, or someone between it and us, may do


def test_an_older_list_is_refused(mirror: Mirror, tmp_path: Path) -> None:
    before = mirror.snapshot()
    publish_newer(mirror, tmp_path)
    run("update", "--check")
    mirror.serve_again(before)
    assert "older list of releases" in reason("update")


def test_a_list_that_is_no_longer_renewed_is_refused(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(repository.DAYS, "timestamp", -1)
    mirror.sign()
    assert "has not renewed its list" in reason("update")


def test_a_list_signed_by_others_is_refused(mirror: Mirror, tmp_path: Path) -> None:
    shutil.rmtree(mirror.folder)
    mirror.folder.mkdir()
    mirror.create(tmp_path / "other-keys")
    assert "not signed by the maintainers" in reason("update")


def test_a_release_with_too_few_signatures_is_not_published(tmp_path: Path) -> None:
    with served(tmp_path / "mirror") as mirror:
        one, two, online = (repository.create_key(tmp_path / name, None) for name in "abc")
        public = [one.public_key, two.public_key]
        mirror.repository.create(
            {
                "root": public,
                "targets": public,
                "snapshot": [online.public_key],
                "timestamp": [online.public_key],
            },
            {"root": 2, "targets": 2},
        )
        assert mirror.repository.sign([one, online]) == []
        assert mirror.repository.waiting() == {"root": (1, 2), "targets": (1, 2)}
        assert mirror.repository.sign([two, online]) == [
            "root",
            "targets",
            "snapshot",
            "timestamp",
        ]
        assert mirror.repository.waiting() == {}


@pytest.mark.parametrize("damage", ["cut", "swapped", "grown", "missing"])
def test_a_damaged_chunk_is_refused_and_another_mirror_helps(
    mirror: Mirror, tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tequio_client.releases.chunk_sources._ATTEMPTS", 1)
    good = mirror.snapshot()
    first, second = mirror.chunks()[:2]
    if damage == "cut":
        first.write_bytes(first.read_bytes()[:-1000])
    elif damage == "swapped":
        first.write_bytes(second.read_bytes())
    elif damage == "grown":
        first.write_bytes(first.read_bytes() + bytes(1 << 20))
    else:
        first.unlink()
    problem = reason("runtime", "install", "--for", "cpu")
    assert ("does not have the file" if damage == "missing" else "damaged or exchanged") in problem
    assert not versions.folder_of("runtime", BUILD).exists()
    with served(good) as other:
        mirror.trust(tmp_path / "trust", other.url)
        install_runtime()


@pytest.mark.parametrize("name", ["targets", "snapshot", "timestamp"])
def test_damaged_metadata_is_refused(mirror: Mirror, name: str) -> None:
    newest = max(mirror.folder.glob(f"metadata/*{name}.json"))
    newest.write_bytes(newest.read_bytes()[:-20])
    assert "damaged or exchanged" in reason("update")


def test_a_manifest_under_another_name_is_refused(mirror: Mirror) -> None:
    app, runtime = (
        next((mirror.folder / "targets" / BUILD).glob(f"*.{part}-*")) for part in ("app", "runtime")
    )
    runtime.write_bytes(app.read_bytes())
    assert "damaged or exchanged" in reason("runtime", "install", "--for", "cpu")


def test_a_mirror_that_is_away_is_named(mirror: Mirror, tmp_path: Path) -> None:
    mirror.repository.trust(["http://127.0.0.1:9/"], tmp_path / "trust")
    assert reason("update") == "http://127.0.0.1:9/ cannot be reached"


def test_new_keys_are_followed_from_an_old_root(mirror: Mirror, tmp_path: Path) -> None:
    run("update", "--check")
    fresh = repository.create_key(tmp_path / "fresh", None)
    old = mirror.keys["targets"]
    mirror.repository.rotate(
        "targets", add=fresh.public_key, remove=old.public_key.keyid, threshold=1
    )
    mirror.sign()
    mirror.keys["targets"] = fresh
    publish_newer(mirror, tmp_path)
    assert events("update", "--check")[0]["version"] == NEWER


@pytest.mark.parametrize("role", ["targets", "snapshot", "timestamp"])
def test_a_list_is_signed_again_by_new_keys_without_a_new_version(
    mirror: Mirror, tmp_path: Path, role: str
) -> None:
    run("update", "--check")
    fresh = repository.create_key(tmp_path / "fresh", None)
    old = mirror.keys[role].public_key.keyid
    mirror.repository.rotate(role, add=fresh.public_key, remove=old, threshold=1)
    mirror.sign()
    mirror.keys[role] = fresh
    mirror.sign()
    assert events("update", "--check")[0]["version"] == BUILD


def test_keys_of_two_roles_are_exchanged_by_one_root(mirror: Mirror, tmp_path: Path) -> None:
    fresh = repository.create_key(tmp_path / "fresh", None)
    for role in ("snapshot", "timestamp"):
        old = mirror.keys[role].public_key.keyid
        mirror.repository.rotate(role, add=fresh.public_key, remove=old, threshold=1)
    mirror.sign()
    assert sorted(path.name for path in mirror.folder.glob("metadata/*.root.json")) == [
        "1.root.json",
        "2.root.json",
    ]
    mirror.keys |= {"snapshot": fresh, "timestamp": fresh}
    mirror.sign()
    assert events("update", "--check")[0]["version"] == BUILD


def test_a_repository_that_was_refused_can_be_begun_again(tmp_path: Path) -> None:
    made = repository.ReleaseRepository(tmp_path / "mirror")
    public = [repository.create_key(tmp_path / "key", None).public_key]
    keys = dict.fromkeys(ROLES, public)
    with pytest.raises(repository.ReleaseRepositoryError, match="fewer keys than must sign"):
        made.create(keys, dict.fromkeys(ROLES, 2))
    made.create(keys, dict.fromkeys(ROLES, 1))


def test_a_package_for_windows_is_packed_on_any_system(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    pack = partial(pack_folder, part="app", version=NEWER, accelerator="")
    (folder / "other.exe").write_bytes(b"MZ")
    with pytest.raises(MalformedError, match=r"the program tequio\.exe is missing"):
        pack(folder, tmp_path / "mirror", system="windows-x86_64")
    (folder / "tequio.exe").write_bytes(b"MZ")
    (folder / "tequio.exe").chmod(0o644)  # as it comes out of an archive
    packed = pack(folder, tmp_path / "mirror", system="windows-x86_64").files
    assert all(file.is_program for file in packed)
    with pytest.raises(MalformedError, match="the program tequio is missing, or not marked"):
        pack(folder, tmp_path / "mirror", system="linux-x86_64")


# Disks that fill up, and power cuts


def test_a_small_disk_is_named_before_the_download(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "_MARGIN_BYTES", 1 << 60)
    assert "free some space" in reason("runtime", "install", "--for", "cpu")
    assert not [path for path in mirror.asked if "chunks" in path]


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a small disk")
def test_a_disk_that_fills_up_keeps_what_arrived(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run((MOUNT, "-t", "tmpfs", "-o", "size=4400k", "tmpfs", disk), check=True)
    try:
        monkeypatch.setenv("XDG_DATA_HOME", str(disk))
        monkeypatch.setattr(install, "_check_space", lambda *_: None)
        assert "free some space" in reason("runtime", "install", "--for", "cpu")
        assert not versions.folder_of("runtime", BUILD).exists()
        subprocess.run((MOUNT, "-o", "remount,size=64m", disk), check=True)
        mirror.asked.clear()
        install_runtime()
        assert 0 < len([path for path in mirror.asked if "chunks" in path]) < len(mirror.chunks())
    finally:
        subprocess.run((UMOUNT, disk), check=True)


CUTS = """
import os, sys
import httpcore  # which each child would import
from tequio_client.platform import versions
from tequio_client.releases import install, update
from tequio_client.releases.log_check import LedgerChoice
from tequio_shared.version import BUILD

install._MARGIN_BYTES = 0
STEPS = {"os.rename", "os.link", "os.remove", "os.mkdir", "os.chmod", "os.truncate", "os.symlink",
         "subprocess.Popen"}
FOLDER, WRITING = os.environ["XDG_DATA_HOME"], os.O_WRONLY | os.O_RDWR | os.O_CREAT

def is_step(event, args):
    is_change = args[2] & WRITING if event == "open" else event in STEPS
    return is_change and FOLDER in str(args[0])

def install_until(cut):
    left = cut
    def hook(event, args):
        nonlocal left
        if is_step(event, args):
            left -= 1
            if left == 0:
                os._exit(9)
    sys.addaudithook(hook)
    nowhere = LedgerChoice(url="http://127.0.0.1:9", must_answer=False)
    with update.open_releases(nowhere) as releases:
        releases.install(releases.offer_update()[1], lambda event: None)
    os._exit(0)

cut = 0
while True:
    cut += 1
    child = os.fork()
    if child == 0:
        install_until(cut)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) == 0:
        break
    assert os.waitstatus_to_exitcode(status) == 9, status
    for part in ("app", "runtime"):
        for version in versions.installed(part):
            folder = versions.folder_of(part, version)
            bundle = install.installed_bundle(folder)
            assert bundle is not None, folder
            plain = [file for file in bundle.files if not file.link]
            assert all(install._has_chunks(folder / file.path, file) for file in plain)
    assert versions.program_of("runtime", BUILD).is_file()
    start = versions.app_to_start(BUILD, is_counted=False)
    assert start is None or start.is_file()
print(cut)
"""


def test_a_power_cut_at_any_step_leaves_a_version_that_works(
    mirror: Mirror, tmp_path: Path
) -> None:
    """A process that ends at its n-th change of the disk; the next one goes on from there."""
    install_runtime()
    publish_newer(mirror, tmp_path)
    done = subprocess.run(
        (sys.executable, "-c", CUTS), capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 40
    assert versions.app_to_start(BUILD) == versions.program_of("app", NEWER)


# Manifests that no maintainer should have signed


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("../evil", ""),
        ("/etc/evil", ""),
        ("lib/con.txt", ""),
        ("a\\b", ""),
        ("lib/x", "../../outside"),
        ("lib/x", "/etc/passwd"),
        ("bundle.json", ""),
        ("tequio", ""),
        ("tequio/below-a-file", ""),
    ],
)
def test_a_manifest_that_leaves_its_folder_is_refused(path: str, link: str) -> None:
    chunk = ["0" * 64, CHUNK_BYTES, 100]
    files = [
        {"path": "tequio", "chunks": [chunk], "is_program": True},
        {"path": path, "link": link} if link else {"path": path, "chunks": [chunk]},
    ]
    bundle = {"part": "app", "version": "1.0.0", "system": "any", "files": files}
    with pytest.raises(MalformedError):
        decode_bundle(json.dumps(bundle).encode())
    del files[1]
    assert decode_bundle(json.dumps(bundle).encode()).files[0].path == "tequio"


def test_a_program_that_comes_from_no_release_says_how_it_is_updated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(TRUST_VARIABLE, raising=False)
    assert "does not come from a release" in reason("update")


def test_the_installed_manifest_is_what_was_signed(mirror: Mirror) -> None:
    install_runtime()
    found = installed_bundle(versions.folder_of("runtime", BUILD))
    assert found is not None
    assert found.accelerator == "cpu"


def test_a_download_starts_nothing_and_an_update_goes_on_from_it(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_runtime()
    publish_newer(mirror, tmp_path)
    monkeypatch.setenv("TEQUIO_SEEN", str(tmp_path / "seen"))
    done = events("update", "--download", "--most-mbit", "10000")[-1]
    assert done == {"event": "downloaded", "version": NEWER}
    assert not (tmp_path / "seen").exists()
    assert versions.installed("app") == []
    assert versions.app_to_start(BUILD) is None
    mirror.asked.clear()
    assert events("update")[-1] == {"event": "installed", "version": NEWER, "is_update": True}
    assert not [path for path in mirror.asked if "chunks" in path]
    assert (tmp_path / "seen").exists()


def test_a_rate_of_zero_is_refused(mirror: Mirror) -> None:
    assert mirror.url
    refused = run("update", "--download", "--most-mbit", "0")
    assert refused.exit_code == 2
    assert "0" in refused.output
