"""Releases named in a network's log: real organisers, a real ledger, and a real mirror."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import trio
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.releases import MinimumVersion
from tequio_client.platform import versions
from tequio_client.platform.versions import TRUST_VARIABLE
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tequio_shared.version import BUILD
from tests.support.equivocators import key_folder
from tests.support.ledgers import ORGANISER, UNLIMITED, served
from tests.support.mirrors import NEWER, Mirror, package
from tests.support.mirrors import served as served_mirror

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECOND = Signer(bytes([8]) * 32)
NOBODY = "http://127.0.0.1:9"
LYING = ("tests.support.forged_tables:forging_releases", "0.0.7")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseNetwork:
    """A network with two organisers, and the mirror that its log is about."""

    url: str
    folder: Path
    mirror: Mirror

    def announce(self, content: bytes, *, minimum: str = "0.1.0") -> str:
        """Name a list in the log as both organisers; the sentence about it, or the refusal."""
        path = self.folder / "targets.json"
        path.write_bytes(content)
        words = ("release", "announce", "--metadata", str(path), "--version", NEWER)
        keys = ("--dir", str(self.folder / "first"), "--with", str(self.folder / "second"))
        return run(*words, "--minimum", minimum, "--ledger", self.url, *keys)

    @property
    def listed(self) -> bytes:
        """The newest list on the mirror."""
        found = (self.mirror.folder / "metadata").glob("*.targets.json")
        return max(found, key=lambda one: int(one.name.partition(".")[0])).read_bytes()


def run(*words: str) -> str:
    """Run a command; what it prints, or the sentence with which it fails."""
    done = CliRunner().invoke(cli, words)
    error: BaseException | None = done.exception
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, UserFacingError):
        return str(error)
    assert error is None or isinstance(error, SystemExit), done.exc_info
    return done.output


@pytest.fixture
def network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[ReleaseNetwork]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("TEQUIO_LEDGER", raising=False)
    key_folder(tmp_path / "first", ORGANISER)
    key_folder(tmp_path / "second", SECOND)
    options = (*UNLIMITED, "--organiser", to_text(SECOND.key))
    setup = getattr(request, "param", None)
    with (
        served(tmp_path / "ledger", *options, setup=setup) as ledger,
        served_mirror(tmp_path / "mirror") as mirror,
    ):
        mirror.create(tmp_path / "keys")
        monkeypatch.setenv(TRUST_VARIABLE, str(mirror.trust(tmp_path / "trust")))
        mirror.publish(NEWER, ("app", "", package(tmp_path / "app", "tequio")))
        yield ReleaseNetwork(url=ledger.url, folder=tmp_path, mirror=mirror)


def test_the_list_that_the_log_names_is_installed_and_another_one_refused(
    network: ReleaseNetwork,
) -> None:
    assert "is the newest" not in run("update", "--check", "--ledger", network.url), "not named yet"
    other = network.listed + b" "
    assert "logged as entry" in network.announce(other)
    refused = run("update", "--yes", "--ledger", network.url)
    assert "The releases that test's log names differ from those this mirror serves" in refused
    assert "nothing was installed" in refused
    assert versions.installed("app") == []
    done = CliRunner().invoke(cli, ("update", "--json"), env={"TEQUIO_LEDGER": network.url})
    failed = json.loads(done.stdout.splitlines()[-1])
    assert (failed["event"], failed["is_alarm"]) == ("failed", True)
    network.mirror.publish(NEWER)
    assert "logged as entry" in network.announce(network.listed)
    assert f"{NEWER} is installed" in run("update", "--yes", "--ledger", network.url)


def test_one_organiser_alone_and_an_older_list_are_refused(network: ReleaseNetwork) -> None:
    first = network.listed
    network.mirror.publish(NEWER)
    network.announce(network.listed)
    assert "is older than" in network.announce(first)
    path = network.folder / "targets.json"
    words = ("release", "announce", "--metadata", str(path), "--version", NEWER, "--minimum")
    alone = ("--ledger", network.url, "--dir", str(network.folder / "first"))
    assert "more organisers have to sign" in run(*words, "0.1.0", *alone)
    assert f"minimum 9.9.10 is above version {NEWER}" in run(*words, "9.9.10", *alone)
    path.write_bytes((network.mirror.folder / "metadata" / "1.root.json").read_bytes())
    assert "role root, not targets" in run(*words, "0.1.0", *alone)


def test_a_ledger_that_does_not_answer_delays_an_update_only_if_the_user_named_it(
    network: ReleaseNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = run("update", "--yes", "--ledger", NOBODY)
    assert "does not say which releases its network names" in refused
    assert versions.installed("app") == []
    monkeypatch.setenv("TEQUIO_LEDGER", NOBODY)
    assert f"{NEWER} is installed" in run("update", "--yes")
    assert network.mirror.asked


@pytest.mark.parametrize("network", [LYING], indirect=True)
def test_a_ledger_that_says_other_than_its_log_is_refused_and_found_by_an_audit(
    network: ReleaseNetwork,
) -> None:
    network.announce(network.listed)
    assert "not proven by its log" in run("update", "--yes", "--ledger", network.url)
    assert versions.installed("app") == []
    audit = run("audit", "--ledger", network.url, "--from-log-only")
    assert "/v1/release" in audit
    assert "minimum" in audit


def test_a_worker_learns_the_minimum_and_that_it_was_lowered(network: ReleaseNetwork) -> None:
    assert minimum_at(network) == ""
    for stated, wanted in ((NEWER, NEWER), (BUILD, "")):
        assert "logged as entry" in network.announce(network.listed, minimum=stated)
        assert minimum_at(network) == wanted


def minimum_at(network: ReleaseNetwork) -> str:
    """The version that a worker which has just started wants to be."""

    async def asked() -> str:
        async with LedgerApi(network.url) as api:
            minimum = MinimumVersion(api)
            await minimum.refresh()
            return minimum.wanted

    return trio.run(asked)
