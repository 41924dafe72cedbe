"""The maintainers' commands: how long signatures count, and keys that are not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.releases import repository

if TYPE_CHECKING:
    from click.testing import Result


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ("release", *words))


@pytest.fixture(autouse=True)
def _ceremony(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One key signs root and targets, another one the rest."""
    monkeypatch.chdir(tmp_path)
    for name in ("key", "online"):
        assert run("key", name, "--no-passphrase").exit_code == 0
    keys = ("--root-key", "key.pub", "--targets-key", "key.pub", "--online-key", "online.pub")
    assert run("init", "releases", *keys).stdout == (
        "root waits for signatures: 0 of 1\ntargets waits for signatures: 0 of 1\n"
    )


def sign() -> list[str]:
    return run("sign", "releases", "--key", "key", "--key", "online").stdout.splitlines()


def add(version: str, content: str) -> Result:
    """Propose a version whose app is one small file."""
    app = Path(f"app-{content}")
    app.mkdir(exist_ok=True)
    (app / "tequio").write_text(content)
    (app / "tequio").chmod(0o755)
    return run("add", "releases", "--version", version, "--app", str(app))


def newest() -> str:
    """Read the version that programs are told of, as published."""
    listed = json.loads(max(Path("releases/metadata").glob("*targets.json")).read_bytes())
    digest = listed["signed"]["targets"]["newest.txt"]["hashes"]["sha256"]
    return Path(f"releases/targets/{digest}.newest.txt").read_text("utf-8").strip()


def last_day(role: str) -> str:
    """Read the metadata of a role that was published last."""
    newest = max(Path("releases/metadata").glob(f"*{role}.json"))
    return str(json.loads(newest.read_bytes())["signed"]["expires"])[:10]


def test_each_signing_shows_until_when_signatures_count() -> None:
    published, *ends = sign()
    assert published == "published: root, targets, snapshot, timestamp"
    assert ends == [f"{role} is valid until {last_day(role)}" for role in repository.ROLES]
    assert len({line.rpartition(" ")[2] for line in ends}) == 4


@pytest.mark.parametrize("role", repository.SEVERAL)
def test_a_role_that_several_sign_is_to_be_renewed_in_time(
    monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    sign()
    monkeypatch.setitem(repository.DAYS, role, 59)
    waiting, *_ = run("renew", "releases", role).stdout.splitlines()
    assert waiting == f"{role} waits for signatures: 0 of 1"
    remedy = f": run `tequio release renew releases {role}`, and have it signed"
    lines = sign()
    assert f"{role} is valid until {last_day(role)}{remedy}" in lines
    monkeypatch.setitem(repository.DAYS, role, 61)
    assert remedy not in run("renew", "releases", role).stdout, "it waits for signatures"
    lines = sign()
    assert f"{role} is valid until {last_day(role)}" in lines


def test_a_key_that_a_role_does_not_have_cannot_be_removed() -> None:
    sign()
    own = run("key", "other", "--no-passphrase").stdout.split()[1]
    assert run("rotate", "releases", "targets", "--add", "other.pub").exit_code == 0
    refused = run("rotate", "releases", "targets", "--remove", "abc")
    assert str(refused.exception).startswith("the role targets has no key abc: it has ")
    assert own in str(refused.exception)
    assert run("rotate", "releases", "targets", "--remove", own).exit_code == 0


def test_a_published_version_is_never_replaced_under_its_own_number() -> None:
    sign()
    assert add("0.2.0", "mistaken").exit_code == 0
    assert add("0.2.0", "good").exit_code == 0, "nobody has signed it"
    sign()
    refused = str(add("0.2.0", "other").exception)
    assert refused.startswith("0.2.0/app-")
    assert refused.endswith(" is published with other content: give this build a higher version")
    assert not Path("releases/pending/targets.json").exists()
    assert add("0.2.0", "good").exit_code == 0


def test_an_older_version_can_be_added_and_the_newest_stays() -> None:
    sign()
    for version, told in (("0.2.0", "0.2.0"), ("0.1.0", "0.2.0"), ("0.10.0", "0.10.0")):
        assert add(version, version).exit_code == 0
        sign()
        assert newest() == told


@pytest.mark.parametrize("role", repository.SEVERAL)
def test_what_was_published_and_still_waits_after_a_cut_is_not_signed_again(role: str) -> None:
    sign()
    run("renew", "releases", role)
    pending = Path(f"releases/pending/{role}.json")
    before = pending.read_bytes()
    sign()
    published = Path(f"releases/metadata/2.{role}.json").read_bytes()
    pending.write_bytes(before)
    waiting, *_ = run("renew", "releases", role).stdout.splitlines()
    assert waiting == f"{role} waits for signatures: 0 of 1"
    sign()
    assert Path(f"releases/metadata/2.{role}.json").read_bytes() == published
    assert Path(f"releases/metadata/3.{role}.json").exists()


def test_what_waits_since_a_cut_does_not_keep_a_list_from_its_new_signers() -> None:
    sign()
    run("renew", "releases", "targets")
    pending = Path("releases/pending/targets.json")
    before = pending.read_bytes()
    sign()
    pending.write_bytes(before)
    run("key", "other", "--no-passphrase")
    root = json.loads(Path("releases/metadata/1.root.json").read_bytes())
    (old,) = root["signed"]["roles"]["targets"]["keyids"]
    run("rotate", "releases", "targets", "--add", "other.pub", "--remove", old)
    keys = ("--key", "key", "--key", "other", "--key", "online")
    published, *_ = run("sign", "releases", *keys).stdout.splitlines()
    assert published == "published: root, targets, snapshot, timestamp"
    assert Path("releases/metadata/3.targets.json").exists()
